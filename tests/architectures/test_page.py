from architectures.architecture import read
from architectures.page import PAGE, page

from specvino.engine.models.folder import WITHOUT_PREFIX_CACHE
from specvino.engine.models.refused_types import REFUSED


def test_the_page_has_what_the_architectures_are_known_for() -> None:
    assert PAGE.read_text("utf-8") == page(read())


def test_models_of_the_types_that_do_not_start_are_refused() -> None:
    for name, each in read().items():
        assert "start" not in each.fails or not REFUSED[name].exporting
        assert name not in REFUSED or each.fails.keys() & {"export", "start"}


def test_the_prefix_cache_is_off_where_it_changes_answers() -> None:
    assert {name for name, each in read().items() if "prefix cache" in each.fails} == set(WITHOUT_PREFIX_CACHE)
