from architectures.architecture import read
from architectures.page import PAGE, page


def test_the_page_has_what_the_architectures_are_known_for() -> None:
    assert PAGE.read_text("utf-8") == page(read())
