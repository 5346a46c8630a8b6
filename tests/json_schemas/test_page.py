"""The documentation's page is up to date."""

from json_schemas.page import COSTS, PAGE, figures_of_corpus, figures_of_suite, page


def test_the_page_is_as_it_has_to_be() -> None:
    expected = page(figures_of_corpus(), figures_of_suite())
    # What a conversion costs isn't the same each time.
    same, here = (text.partition(f"## {COSTS}")[0] for text in (PAGE.read_text("utf-8"), expected))
    assert same == here, "`tox run -e schemas -- python -m json_schemas --write` writes it"
