"""The page on what structured outputs cost, which the benchmark writes, speaks of all that is measured now."""

from bench.constructs import CONSTRUCTS
from bench.grammars_page import PAGE
from bench.real_schemas import real_schemas


def test_it_names_every_construct_and_schema() -> None:
    rows = {line.split(" | ")[0].removeprefix("| ") for line in PAGE.read_text("utf-8").splitlines()}
    measured = {*CONSTRUCTS, *dict(real_schemas())}
    assert measured <= rows, "`tox run -e bench -- grammars --write` makes it anew"
