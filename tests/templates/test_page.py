"""The documentation's page is up to date."""

from templates.exceptions import KNOWN
from templates.page import PAGE, page


def test_the_page_is_as_it_has_to_be() -> None:
    assert PAGE.read_text("utf-8") == page(KNOWN.failing), "`python -m templates --write` writes it"
