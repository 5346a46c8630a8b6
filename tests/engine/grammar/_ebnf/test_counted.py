"""Counted characters: as many as requested, at only a few places where most tokens fit."""

import json

import pytest
from samples.sentences import sentences

from specvino.engine.grammar._ebnf.counted import WINDOW, countable, counted
from specvino.engine.grammar._ebnf.finite_texts import shortest_text
from specvino.engine.grammar._ebnf.nodes import BLOCK, EMPTY, Chars, Grammar, Repeat, Rule, Text, choice, sequence
from specvino.engine.grammar._ebnf.size import open_places
from specvino.engine.grammar._from_schema.converter import convert

LETTER = Chars(((97, 122),))
BOUNDS = [
    (0, 0), (0, 1), (1, 1), (0, WINDOW), (3, WINDOW), (0, WINDOW + 1), (WINDOW + 1, WINDOW + 1), (2, 40), (39, 40),
    (50, 50), (0, WINDOW + BLOCK), (0, WINDOW + BLOCK + 1), (7, 200), (0, 1000), (999, 1000),
]  # fmt: skip


@pytest.mark.parametrize(("least", "most"), BOUNDS)
@pytest.mark.parametrize("end", [Text("."), Text("--"), EMPTY], ids=["short", "long", "none"])
def test_there_are_as_many_as_asked_for(least: int, most: int, end: Text) -> None:
    grammar = Grammar()
    grammar.rules["root"] = counted(grammar, LETTER, least, most, end)
    lengths = {len(text) - len(end.text) for text in sentences(grammar, 60, 30_000)}
    assert len(shortest_text(grammar)) - len(end.text) == least
    assert all(least <= length <= most for length in lengths)
    assert len(lengths) > 1 or least == most


@pytest.mark.parametrize("least", [0, 1, 2, 100])
def test_there_may_be_any_number(least: int) -> None:
    grammar = Grammar()
    grammar.rules["root"] = counted(grammar, LETTER, least, None, Text("."))
    lengths = {len(text) - 1 for text in sentences(grammar, 60, 30_000)}
    assert min(lengths) >= least
    assert max(lengths) > least + 2


@pytest.mark.parametrize(
    ("schema", "most"),
    [
        ({"type": "string"}, 1),
        ({"type": "string", "minLength": 300}, 2),
        ({"type": "string", "maxLength": 20}, WINDOW + 1),
        ({"type": "string", "maxLength": 100_000}, WINDOW + 1),
        ({"type": "string", "minLength": 50, "maxLength": 50}, WINDOW + 1),
        ({"type": "string", "pattern": "^.{3,900}$"}, WINDOW + 2),
        # All strings share what they have in common.
        ({"properties": {f"p{i}": {"type": "string", "maxLength": 20 + i} for i in range(50)}}, WINDOW + 1),
        ({"properties": {f"p{i}": {"type": "string", "format": "email"} for i in range(50)}}, 90),
    ],
)
def test_places_do_not_grow_with_the_count(schema: object, most: int) -> None:
    grammar, _ = convert(schema)
    assert open_places(grammar.rules.values()) <= most, json.dumps(schema)


def test_what_can_be_counted() -> None:
    assert all(map(countable, (LETTER, Text("ab"), sequence(Text("a"), LETTER), choice(LETTER, Text("1")))))
    assert not any(map(countable, (EMPTY, Rule("a"), Repeat(LETTER, 0, 1), sequence(Rule("a"), LETTER))))
