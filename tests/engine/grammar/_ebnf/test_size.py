"""How much work a grammar is, in numbers that don't depend on the machine."""

from typing import Any

import pytest
from samples.schemas import SCHEMAS

from specvino.engine.grammar import GrammarError, lower_json_schema
from specvino.engine.grammar._ebnf.nodes import Grammar
from specvino.engine.grammar._ebnf.render import render
from specvino.engine.grammar._ebnf.size import LONGEST, MOST_OPEN_PLACES, least_length
from specvino.engine.grammar._from_schema.converter import convert


def test_a_schema_with_too_many_places_is_refused_where_most_of_them_are() -> None:
    wide = {f"p{i}": {"type": "string", "pattern": f"^[a-z]{{12}}{i}$"} for i in range(20)}
    wide["most"] = {"type": "string", "pattern": "^(?:[a-z]{15}-){9}$"}
    with pytest.raises(GrammarError, match=f"135 are in this part; at most {MOST_OPEN_PLACES} are accepted") as caught:
        lower_json_schema({"properties": wide})
    assert caught.value.path == ("properties", "most")


@pytest.mark.parametrize("schema", [schema for _, schema in SCHEMAS])
def test_the_least_length_is_no_more_than_what_is_written(schema: dict[str, Any]) -> None:
    grammar, _ = convert(schema)
    for name, node in grammar.rules.items():
        assert least_length(node) <= len(render(Grammar({name: node}))) - len(f"{name} ::= \n")


def test_a_grammar_that_grows_too_long_is_refused_while_it_grows() -> None:
    """Otherwise it would be rendered before its length is known, which takes ten times as long."""
    wide = {f"p{i}": {"type": "integer", "minimum": -(10**17) - i, "maximum": 10**16 + 7} for i in range(1500)}
    with pytest.raises(
        GrammarError, match=f"up to here its grammar has .* characters; at most {LONGEST} are accepted"
    ) as caught:
        lower_json_schema({"type": "object", "properties": wide})
    assert caught.value.path[0] == "properties"


def test_a_pattern_that_comes_to_too_much_is_named() -> None:
    schema = {"type": "string", "pattern": "^((a{9}b{9}){9}c){99}$"}
    lowered = lower_json_schema(schema)
    assert lowered.unenforced == (("pattern",),)
