"""The other systems' fields for the form of a text: structured_outputs, guided_json and their like."""

import json
from typing import Any

import pytest

from proofs import everywhere, proves
from proofs.asking import Ask

NO = {"enum": ["no"]}
OBJECT = {"type": "object", "properties": {"a": NO}, "required": ["a"]}
TAG = {"type": "structural_tag", "format": {"type": "sequence", "elements": [{"type": "const_string", "value": "ab"}]}}
OLD_TAG: dict[str, Any] = {"structures": [{"begin": "1,", "schema": NO, "end": "!"}], "triggers": ["1,"]}

# By the end of the field's name: its value, and all that "count" is then answered with.
ANSWERS: dict[str, tuple[Any, str]] = {
    "json": (NO, '"no"'),
    "json_schema": (OBJECT, '{"a": "no"}'),
    "regex": ("no(!|,)", "no!"),
    "choice": (["no way", "", "no way"], "no way"),
    "grammar": ('root ::= "A" [B-B]', "AB"),
    "ebnf": ('root ::= "A" [B-B]', "AB"),
    "structural_tag": (json.dumps(TAG), "ab"),
}

STRUCTURED = everywhere(
    *(f"structured_outputs.{kind}" for kind in ("json", "regex", "choice", "grammar", "structural_tag"))
)
PLAIN = [
    *(
        f"{endpoint}.guided_{kind}"
        for endpoint in ("chat", "completions")
        for kind in ("json", "regex", "choice", "grammar")
    ),
    *(f"{endpoint}.{name}" for endpoint in ("chat", "completions") for name in ("regex", "ebnf")),
    *everywhere("json_schema", "grammar"),
    "chat.structural_tag",
]


def given(path: str, value: Any) -> dict[str, Any]:
    outer, _, inner = path.partition(".")
    return {outer: {inner: value} if inner else value}


def kind_of(path: str) -> str:
    return path.removeprefix("structured_outputs.").removeprefix("guided_")


@proves(*everywhere("structured_outputs"), *STRUCTURED, *PLAIN)
def test_the_text_has_the_form(ask: Ask) -> None:
    path = "structured_outputs.json" if ask.path == "structured_outputs" else ask.path
    value, answer = ANSWERS[kind_of(path)]
    assert ask("count", **given(path, value), **{ask.limit: 40}).text == answer


@proves(*(name for name in (*STRUCTURED, *PLAIN) if name.endswith(("grammar", "ebnf"))))
def test_a_lark_grammar(ask: Ask) -> None:
    lark = 'start: "A" last\nlast: LETTER "!"?\nLETTER: "B".."B"'
    assert ask("count", **given(ask.path, lark), **{ask.limit: 40}).text in ("AB", "AB!")


@proves(
    *everywhere("structured_outputs.json"), "chat.guided_json", "completions.guided_json", "completions.json_schema"
)
def test_a_schema_as_json_text(ask: Ask) -> None:
    assert ask("count", **given(ask.path, json.dumps(OBJECT)), **{ask.limit: 40}).text == '{"a": "no"}'


@proves(*everywhere("structured_outputs.json_object"))
def test_some_object(ask: Ask) -> None:
    assert ask("hello", structured_outputs={"json_object": True}, **{ask.limit: 9}).text.startswith("{")


@proves(*everywhere("structured_outputs.structural_tag"), "chat.structural_tag")
def test_a_structural_tag_in_its_older_form(ask: Ask) -> None:
    assert ask("count", **given(ask.path, json.dumps(OLD_TAG)), **{ask.limit: 9}).text.startswith('1,"no"!')


def older(**fields: Any) -> dict[str, Any]:
    (structure,) = OLD_TAG["structures"]
    return {"type": "structural_tag", **OLD_TAG, "structures": [{**structure, **fields}]}


@proves(
    *(
        f"{endpoint}.response_format.structures{name}"
        for endpoint in ("chat", "responses")
        for name in ("", "[].begin", "[].schema", "[].end")
    )
)
def test_the_older_form_in_the_response_format(ask: Ask) -> None:
    answer = ask("count", response_format=older(), **{ask.limit: 9})
    assert answer.text.startswith('1,"no"!')


@proves(*STRUCTURED, *PLAIN, on="tiny")
def test_what_is_no_such_form_is_refused(ask: Ask) -> None:
    kind = kind_of(ask.path)
    wrong: Any = {
        "json": "[",
        "json_schema": {"type": "colour"},
        "regex": "a(",
        "choice": [letter * 65536 for letter in "abcde"],
        "structural_tag": "[]",
    }.get(kind, 'root ::= "yes')
    code, param = ask.refusal("count", **given(ask.path, wrong), **{ask.limit: 9})
    assert code == "invalid_schema"
    assert param.startswith(ask.path)


@proves("chat.structured_outputs.regex", "responses.structured_outputs.regex", "completions.structured_outputs.regex")
@pytest.mark.parametrize("other", [{"json_object": True}, {"choice": ["a"]}])
def test_only_one_form(ask: Ask, other: dict[str, Any]) -> None:
    refusal = ask.refusal("count", structured_outputs={"regex": "a", **other}, ignore_eos=False, grammar="")
    assert refusal == ("invalid_value", "structured_outputs.regex")
