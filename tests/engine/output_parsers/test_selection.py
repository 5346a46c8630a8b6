from dataclasses import replace

import pytest
from support.conversation import conversation
from support.tools import WEATHER

from specvino.engine.errors import ConstraintError
from specvino.engine.output_parsers.selection import (
    SelectedParsers,
    require_object,
    select_parsers,
    thinking_variables,
)

HERMES = "{{ '<tool_call>' }}{{ '</tool_call>' }}"
THINKING = HERMES + "{{ '<think>' }}"
GPTOSS = "<|channel|>"


@pytest.mark.parametrize(
    ("template", "asked", "parsers"),
    [
        (HERMES, (None, None), SelectedParsers("hermes3", None)),
        (THINKING, (None, None), SelectedParsers("hermes3", "qwen3")),
        (THINKING, ("none", None), SelectedParsers(None, "qwen3")),
        (THINKING, (None, "none"), SelectedParsers("hermes3", None)),
        (THINKING, ("mistral", "lfm2"), SelectedParsers("mistral", "lfm2")),
        # A model of which no format is known is still held to calls.
        ("", (None, None), SelectedParsers("hermes3", None, taught=False)),
        ("<think>", (None, None), SelectedParsers("hermes3", "qwen3", taught=False)),
        ("", ("none", "none"), SelectedParsers(None, None)),
        ("", ("phi4", None), SelectedParsers("phi4", None)),
        # What was not asked for gives way to what was.
        (GPTOSS, (None, None), SelectedParsers("gptoss", "gptoss")),
        (GPTOSS, ("hermes3", None), SelectedParsers("hermes3", None)),
        (GPTOSS, (None, "qwen3"), SelectedParsers(None, "qwen3")),
        (THINKING, ("gptoss", None), SelectedParsers("gptoss", None)),
    ],
)
def test_the_formats_are_those_asked_for_or_shown(
    template: str, asked: tuple[str | None, str | None], parsers: SelectedParsers
) -> None:
    chosen = select_parsers(template, *asked)
    assert (chosen.tool, chosen.reasoning) == (parsers.tool, parsers.reasoning)
    assert chosen.calling == parsers.calling


@pytest.mark.parametrize("asked", [("x", None), (None, "x"), ("gptoss", "qwen3"), ("hermes3", "onyx")])
def test_what_doesn_t_exist_or_go_together_is_refused(asked: tuple[str | None, str | None]) -> None:
    with pytest.raises(ValueError, match="format"):
        select_parsers(THINKING, *asked)


def test_there_is_a_parser_where_there_is_something_to_find() -> None:
    plain, armed = conversation("hi"), replace(conversation("hi"), tools=(WEATHER,))
    assert SelectedParsers("hermes3", None).parser(plain, thinking=False) is None
    assert SelectedParsers(None, None).parser(armed, thinking=False) is None
    assert SelectedParsers("hermes3", None).parser(armed, thinking=False)
    assert SelectedParsers("hermes3", "qwen3").parser(plain, thinking=False)


def test_what_a_template_heeds() -> None:
    assert thinking_variables("{% if enable_thinking %}") == {"enable_thinking"}
    assert thinking_variables("{{ reasoning_effort }}") == {"reasoning_effort"}
    assert thinking_variables("") == frozenset()


def test_parameters_are_an_object() -> None:
    for schema in ({}, {"type": "object"}, {"type": ["object", "null"]}, {"anyOf": [{"type": "object"}]}):
        require_object(schema)
    for wrong in ({"type": "array"}, {"enum": ["a"]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}):
        with pytest.raises(ConstraintError, match="object"):
            require_object(wrong)
