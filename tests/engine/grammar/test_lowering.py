"""What XGrammar gets for a schema or a structural tag, and short texts that they allow."""

import json
import re
from typing import Any

import pytest
from samples.sentences import sentences

from specvino.engine.grammar import (
    GrammarError,
    json_schema_example,
    lower_json_schema,
    lower_structural_tag,
    structural_tag_example,
)
from specvino.engine.grammar._ebnf.size import open_places
from specvino.engine.grammar._structural_tags.to_ebnf import as_grammar

UNIQUE = {"type": "array", "uniqueItems": True, "items": {"type": "integer"}}


def tag(format: Any) -> dict[str, Any]:
    return {"type": "structural_tag", "format": format}


def test_a_schema_becomes_a_grammar() -> None:
    lowered = lower_json_schema({"const": "a"})
    assert (lowered.kind, lowered.unenforced) == ("grammar", ())
    assert lowered.text == 'root ::= schema\nschema ::= "\\u0022a\\u0022"\n'


def test_schemas_in_a_tag_become_grammars() -> None:
    lowered = lower_structural_tag(
        tag({"type": "sequence", "elements": [{"type": "any_text"}, {"type": "json_schema", "json_schema": UNIQUE}]})
    )
    text, grammar = json.loads(lowered.text)["format"]["elements"]
    assert lowered.kind == "structural_tags_config"
    assert text == {"type": "any_text"}
    assert grammar["type"] == "grammar"
    assert lowered.unenforced == (("format", "elements", 1, "json_schema", "uniqueItems"),)


def lower_as_a_tag(schema: Any, *, strict: bool) -> object:
    return lower_structural_tag(tag({"type": "json_schema", "json_schema": schema}), strict=strict)


@pytest.mark.parametrize("lower", [lower_json_schema, lower_as_a_tag])
def test_strict_refuses_what_is_not_enforced(lower: Any) -> None:
    with pytest.raises(GrammarError) as caught:
        lower(UNIQUE, strict=True)
    assert caught.value.unsupported
    assert caught.value.path[-1] == "uniqueItems"
    lower({"type": "array", "items": {"type": "integer"}}, strict=True)


@pytest.mark.parametrize(
    ("tag", "path", "reason"),
    [
        (tag({"type": "json_schema", "json_schema": {"type": "x"}}), ("format", "json_schema", "type"), "not a valid"),
        (
            tag({"type": "or", "elements": [{"type": "any_text"}] * 3000}),
            ("format", "elements", 1998),
            "more than 2000 formats",
        ),
        (tag({"type": "tag", "begin": "\u00e9a", "end": ""}), ("format", "begin"), "misread"),
    ],
)
def test_what_is_wrong_in_a_tag_is_refused_at_its_place(tag: Any, path: Any, reason: str) -> None:
    with pytest.raises(GrammarError, match=reason) as caught:
        lower_structural_tag(tag)
    assert caught.value.path == path
    assert not caught.value.unsupported


def test_what_is_wrong_in_a_schema_is_refused_at_its_place() -> None:
    with pytest.raises(GrammarError, match="not a valid JSON Schema") as caught:
        lower_json_schema({"type": "nonsense"})
    assert caught.value.path == ("type",)
    assert not caught.value.unsupported


def test_a_deep_tag_is_refused() -> None:
    format: Any = {"type": "any_text"}
    for _ in range(80):
        format = {"type": "sequence", "elements": [format]}
    with pytest.raises(GrammarError, match="nested more than"):
        lower_structural_tag(tag(format))


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        (tag({"type": "const_string", "value": "hi"}), "hi"),
        (tag({"type": "regex", "pattern": "[b-d]{2}|x{9}"}), "bb"),
        (tag({"type": "json_schema", "json_schema": {"const": [1]}}), "[1]"),
        (tag({"type": "or", "elements": [{"type": "const_string", "value": t} for t in ("long", "s")]}), "s"),
        (tag({"type": "tag", "begin": "<", "content": {"type": "const_string", "value": "x"}, "end": ">"}), "<x>"),
        (tag({"type": "sequence", "elements": [{"type": "regex", "pattern": "q"}] * 2}), "qq"),
        (tag({"type": "any_text"}), None),
        (tag({"type": "grammar", "grammar": 'root ::= "a"'}), None),
        (tag({"type": "nonsense"}), None),
        (tag({"type": "regex", "pattern": "(?=a)"}), None),
    ],
)
def test_examples_of_tags(tag: Any, text: str | None) -> None:
    assert structural_tag_example(tag) == text


def test_examples_of_schemas() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    assert json_schema_example(schema) == '{"a": 0}'


def test_a_pattern_that_several_spellings_share_is_written_in_each() -> None:
    """Between tags a string has no quotes, and each tag its own end."""
    code = {"type": "string", "pattern": "^[a-z]{3}-$"}
    parts = [
        {"type": "tag", "begin": "<a>", "content": {"type": "plain_text", "json_schema": code}, "end": "</a>"},
        {"type": "tag", "begin": "<b>", "content": {"type": "plain_text", "json_schema": code}, "end": "</b>"},
        {"type": "json_schema", "json_schema": {"type": "array", "items": code, "minItems": 1, "maxItems": 1}},
    ]
    grammar, _ = as_grammar({"type": "structural_tag", "format": {"type": "sequence", "elements": parts}})
    expected = re.compile(r'<a>[a-z]{3}-</a><b>[a-z]{3}-</b>\["[a-z]{3}-"\]')
    assert all(expected.fullmatch(text) for text in sentences(grammar, 9))


@pytest.mark.parametrize(
    ("how", "texts"),
    [
        ({"at_least_one": True, "stop_after_first": True}, {"<t>"}),
        ({"at_least_one": True}, {"<t>", "<t>,<t>"}),
        ({"stop_after_first": True}, {"", "<t>"}),
        ({}, {"", "<t>", "<t>,<t>"}),
    ],
)
def test_how_many_tags_there_may_be(how: dict[str, bool], texts: set[str]) -> None:
    tags = [{"begin": "<", "content": {"type": "const_string", "value": "t"}, "end": ">"}]
    format = {"type": "tags_with_separator", "tags": tags, "separator": ",", **how}
    grammar, _ = as_grammar({"type": "structural_tag", "format": format})
    drawn = set(sentences(grammar, 60))
    assert texts <= drawn
    assert drawn == texts or not how.get("stop_after_first")


def test_schemas_of_one_tag_share_their_strings() -> None:
    """What isn't enforced is named at each of them."""
    counted = {"type": "string", "pattern": "(a|b)*a(a|b){20}$", "minLength": 30}
    mail = {"type": "string", "format": "email"}
    forms = [{"type": "json_schema", "json_schema": schema} for schema in (mail, counted, mail, counted, mail, mail)]
    grammar, unenforced = as_grammar(tag({"type": "sequence", "elements": forms}))
    assert open_places(grammar.rules.values()) < 100
    assert list(unenforced) == [("format", "elements", index, "json_schema", "minLength") for index in (1, 3)]


def test_a_regular_expression_may_have_lookaheads() -> None:
    grammar, _ = as_grammar(tag({"type": "regex", "pattern": "(?!.*--)[a-b-]{2}"}))
    assert set(sentences(grammar, 60)) == {"aa", "ab", "ba", "bb", "a-", "b-", "-a", "-b"}
