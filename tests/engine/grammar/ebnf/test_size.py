"""How much work something is, in numbers that don't depend on the machine."""

from typing import Any

import pytest
from support.schemas import SCHEMAS

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.ebnf.nodes import Grammar
from specvino.engine.grammar.ebnf.render import render
from specvino.engine.grammar.ebnf.size import LONGEST, MOST_OPEN_PLACES, least_length
from specvino.engine.grammar.from_schema.converter import convert
from specvino.engine.grammar.structural_tags.repetitions import MOST_REPEATED, repeated
from specvino.engine.grammar.structured_output import lower
from specvino.engine.request import JsonSchema, StructuralTag


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a{3}", 2),
        ("a{3}b{2,5}c*", 6),
        ("a{2,}", 1),
        ("(ab){4}", 6),
        ("((a|b){3}c){2}", 6 + 10),  # a|b is three parts with its bar
        ("[a-z{9}]{3}", 2),
        (r"\{9\}", 0),
        ('root ::= "{9}" "ab"{2}', 1),
        ("a{0}", 0),
        ("a{1", 0),
    ],
)
def test_counted_repetitions_are_written_out(text: str, count: int) -> None:
    assert repeated(text) == count


@pytest.mark.parametrize(
    "format",
    [
        {"type": "grammar", "grammar": 'root ::= ("a" | "b"){999}'},
        {"type": "regex", "pattern": "((((a|b){1,99}c?){1,99}d?){1,99}e?){1,99}"},
    ],
)
def test_what_repeats_too_much_is_refused_at_its_place(format: Any) -> None:
    with pytest.raises(ConstraintError, match=f"accepted are {MOST_REPEATED}") as caught:
        lower(StructuralTag({"type": "structural_tag", "format": format}))
    assert caught.value.path == ("format", *format.keys() - {"type"})


def test_a_schema_with_too_many_places_is_refused_where_most_of_them_are() -> None:
    wide = {f"p{i}": {"type": "string", "pattern": f"^[a-z]{{12}}{i}$"} for i in range(20)}
    wide["most"] = {"type": "string", "pattern": "^(?:[a-z]{15}-){9}$"}
    with pytest.raises(ConstraintError, match=f"135 are in this part; accepted are {MOST_OPEN_PLACES}") as caught:
        lower(JsonSchema({"properties": wide}))
    assert caught.value.path == ("properties", "most")


@pytest.mark.parametrize("schema", [schema for _, schema in SCHEMAS])
def test_the_least_length_is_no_more_than_what_is_written(schema: dict[str, Any]) -> None:
    grammar, _ = convert(schema)
    for name, node in grammar.rules.items():
        assert least_length(node) <= len(render(Grammar({name: node}))) - len(f"{name} ::= \n")


def test_a_grammar_that_grows_too_long_is_refused_while_it_grows() -> None:
    """Else it is made and written out before its length is seen, which takes ten times as long."""
    wide = {f"p{i}": {"type": "integer", "minimum": -(10**17) - i, "maximum": 10**16 + 7} for i in range(1500)}
    with pytest.raises(ConstraintError, match=f"up to here it becomes .* characters, accepted are {LONGEST}") as caught:
        lower(JsonSchema({"type": "object", "properties": wide}))
    assert caught.value.path[0] == "properties"


def test_a_pattern_that_comes_to_too_much_is_named() -> None:
    schema = {"type": "string", "pattern": "^((a{9}b{9}){9}c){99}$"}
    lowered = lower(JsonSchema(schema))
    assert lowered.unenforced == (("pattern",),)
