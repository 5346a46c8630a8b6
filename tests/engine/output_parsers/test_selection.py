from dataclasses import replace

import pytest
from support.conversation import conversation
from support.tools import WEATHER

from specvino.engine.errors import ConstraintError
from specvino.engine.output_parsers.selection import (
    OutputFormats,
    choose,
    require_object,
    thinking_variables,
)

HERMES = "{{ '<tool_call>' }}{{ '</tool_call>' }}"
THINKING = HERMES + "{{ '<think>' }}"
GPTOSS = "<|channel|>"


@pytest.mark.parametrize(
    ("template", "asked", "formats"),
    [
        (HERMES, (None, None), OutputFormats("hermes3", None)),
        (THINKING, (None, None), OutputFormats("hermes3", "qwen3")),
        (THINKING, ("none", None), OutputFormats(None, "qwen3")),
        (THINKING, (None, "none"), OutputFormats("hermes3", None)),
        (THINKING, ("mistral", "lfm2"), OutputFormats("mistral", "lfm2")),
        # A model of which no format is known is still held to calls.
        ("", (None, None), OutputFormats("hermes3", None, taught=False)),
        ("<think>", (None, None), OutputFormats("hermes3", "qwen3", taught=False)),
        ("", ("none", "none"), OutputFormats(None, None)),
        ("", ("phi4", None), OutputFormats("phi4", None)),
        # What was not asked for gives way to what was.
        (GPTOSS, (None, None), OutputFormats("gptoss", "gptoss")),
        (GPTOSS, ("hermes3", None), OutputFormats("hermes3", None)),
        (GPTOSS, (None, "qwen3"), OutputFormats(None, "qwen3")),
        (THINKING, ("gptoss", None), OutputFormats("gptoss", None)),
    ],
)
def test_the_formats_are_those_asked_for_or_shown(
    template: str, asked: tuple[str | None, str | None], formats: OutputFormats
) -> None:
    chosen = choose(template, *asked)
    assert (chosen.tool, chosen.reasoning) == (formats.tool, formats.reasoning)
    assert chosen.calling == formats.calling


@pytest.mark.parametrize("asked", [("x", None), (None, "x"), ("gptoss", "qwen3"), ("hermes3", "onyx")])
def test_what_doesn_t_exist_or_go_together_is_refused(asked: tuple[str | None, str | None]) -> None:
    with pytest.raises(ValueError, match="format"):
        choose(THINKING, *asked)


def test_there_is_a_parser_where_there_is_something_to_find() -> None:
    plain, armed = conversation("hi"), replace(conversation("hi"), tools=(WEATHER,))
    assert OutputFormats("hermes3", None).parser(plain, thinking=False) is None
    assert OutputFormats(None, None).parser(armed, thinking=False) is None
    assert OutputFormats("hermes3", None).parser(armed, thinking=False)
    assert OutputFormats("hermes3", "qwen3").parser(plain, thinking=False)


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
