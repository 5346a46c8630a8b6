"""The form that an answer is held to."""

from typing import Any

import pytest

from proofs import proves
from proofs.asking import Ask

Form = dict[str, Any]


def const(value: str) -> Form:
    return {"type": "const_string", "value": value}


def tag(begin: str, content: str, end: str) -> Form:
    return {"type": "tag", "begin": begin, "content": const(content), "end": end}


def schema(named: Form) -> Form:
    return {"type": "json_schema", "json_schema": named}


# After the trigger comes a tag; any text could stand around it.
TRIGGERED = {"type": "triggered_tags", "triggers": ["<a"], "tags": [tag("<ab>", "1, 2", "</ab>")]}
ONE = {**TRIGGERED, "at_least_one": True, "stop_after_first": True}

# By the field that a form shows: the form, and all that "count" is then answered with.
ANSWERS: dict[str, tuple[Form, str]] = {
    "type": (const("no"), "no"),
    "value": (const("no"), "no"),
    "pattern": ({"type": "regex", "pattern": "no(!|,)"}, "no!"),
    "grammar": ({"type": "grammar", "grammar": 'root ::= "A" [B-B]'}, "AB"),
    "elements": ({"type": "sequence", "elements": [const("a"), const("b")]}, "ab"),
    "format": ({"type": "structural_tag", "format": const("no")}, "no"),
    "begin": (tag("<ab>", "1, 2", "</ab>"), "<ab>1, 2</ab>"),
    "content": (tag("<ab>", "1, 2", "</ab>"), "<ab>1, 2</ab>"),
    "end": (tag("<ab>", "1, 2", "</ab>"), "<ab>1, 2</ab>"),
    "triggers": (ONE, "<ab>1, 2</ab>"),
    "tags": (ONE, "<ab>1, 2</ab>"),
    "at_least_one": (ONE, "<ab>1, 2</ab>"),
    "stop_after_first": (ONE, "<ab>1, 2</ab>"),
    "json_schema": (schema({"name": "a", "schema": {"enum": ["no"]}}), '"no"'),
    "json_schema.schema": (schema({"name": "a", "schema": {"enum": ["no"]}}), '"no"'),
}


@proves(*(f"{endpoint}.response_format.{name}" for endpoint in ("chat", "responses") for name in ANSWERS))
def test_the_answer_fits_the_schema(ask: Ask) -> None:
    form, answer = ANSWERS[ask.path.removeprefix("response_format.")]
    assert ask("count", response_format=form, **{ask.limit: 60}).text == answer


@proves("chat.response_format.type", "responses.response_format.type")
@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ({"type": "text"}, "yes"),
        ({"type": "any_text"}, "yes"),
        ({"type": "or", "elements": [const("yes!"), const("no!")]}, "yes!"),
        ({"type": "sequence", "elements": [const("a"), {"type": "regex", "pattern": "[b-b]"}]}, "ab"),
    ],
)
def test_each_kind_of_structured_output(ask: Ask, form: Form, answer: str) -> None:
    assert ask("yes", response_format=form).text == answer


@proves("chat.response_format.separator", "responses.response_format.separator")
def test_tags_with_something_between(ask: Ask) -> None:
    form = {"type": "tags_with_separator", "tags": [tag("1", ", ", "2")], "separator": " + ", "at_least_one": True}
    assert ask("count", response_format=form, **{ask.limit: 60}).text.startswith("1, 2 + 1, 2")


@proves("chat.response_format", "responses.response_format")
@pytest.mark.parametrize("form", [{"type": "json_object"}, schema({"type": "object", "required": ["a"]})])
def test_an_object(ask: Ask, form: Form) -> None:
    assert ask("hello", response_format=form).text.startswith("{")


@proves("chat.response_format.schema", "responses.response_format.schema")
@pytest.mark.parametrize("own", [{"enum": ["no"]}, '{"enum": ["no"]}'])
def test_the_schema_of_an_object(ask: Ask, own: Any) -> None:
    assert ask("hello", response_format={"type": "json_object", "schema": own}).text == '"no"'


@proves("chat.response_format.json_schema")
def test_the_schema_of_parameters_in_xml(ask: Ask) -> None:
    parameters = {"type": "object", "properties": {"a": {"enum": ["no"]}}, "required": ["a"]}
    form = {"type": "qwen_xml_parameter", "json_schema": parameters}
    assert ask("hello", response_format=form).text.startswith("<parameter=a>")


@proves("responses.text", "responses.text.format", "responses.text.format.type", "responses.text.format.schema")
def test_the_text_fits_the_schema(ask: Ask) -> None:
    form = {"type": "json_schema", "name": "a", "schema": {"enum": ["no"]}}
    assert ask("hello", text={"format": form}).text == '"no"'


@proves("responses.text", "responses.text.format", "responses.text.format.type")
def test_the_text_is_an_object(ask: Ask) -> None:
    assert ask("hello", text={"format": {"type": "json_object"}}).text.startswith("{")


UNENFORCED = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}


@proves("chat.response_format.json_schema.strict", "responses.response_format.json_schema.strict")
def test_a_strict_schema_is_enforced_or_refused(ask: Ask) -> None:
    form = schema({"name": "a", "schema": UNENFORCED, "strict": True})
    param = "response_format.json_schema.schema.uniqueItems"
    assert ask.refusal("list", response_format=form, **{ask.limit: 9}) == ("unsupported_schema", param)


@proves("responses.text.format.strict")
def test_a_strict_schema_of_the_text_is_enforced_or_refused(ask: Ask) -> None:
    form = {"type": "json_schema", "name": "a", "schema": UNENFORCED, "strict": True}
    refusal = ask.refusal("list", text={"format": form}, max_output_tokens=9)
    assert refusal == ("unsupported_schema", "text.format.schema.uniqueItems")
