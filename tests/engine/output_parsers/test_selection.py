from dataclasses import replace

import pytest
from support.conversation import conversation
from support.tools import WEATHER

from specvino.engine.errors import ConstraintError
from specvino.engine.output_parsers import REASONING_PARSERS, TOOL_PARSERS, ShownFormats
from specvino.engine.output_parsers.call_format import CallFormat, JsonCall
from specvino.engine.output_parsers.named_formats import CALL_FORMATS
from specvino.engine.output_parsers.selection import (
    SelectedParsers,
    require_object,
    select_parsers,
    thinking_variables,
)

HERMES = ShownFormats(CALL_FORMATS["hermes3"])
THINKING = ShownFormats("hermes3", "qwen3")
GPTOSS = ShownFormats("gptoss", "gptoss")
NOTHING = ShownFormats()
OWN = CallFormat(JsonCall(), head="<my_call>", tail="</my_call>")


@pytest.mark.parametrize(
    ("shown", "requested", "names", "calling"),
    [
        (HERMES, (None, None), ("hermes3", None), "strict"),
        (THINKING, (None, None), ("hermes3", "qwen3"), "strict"),
        (THINKING, ("none", None), (None, "qwen3"), None),
        (THINKING, (None, "none"), ("hermes3", None), "strict"),
        (THINKING, ("mistral", "lfm2"), ("mistral", "qwen3"), "taught"),
        (THINKING, ("hermes", "deepseek_r1"), ("hermes3", "qwen3"), "strict"),
        # A model of which no format is known is still held to calls.
        (NOTHING, (None, None), ("hermes3", None), "forced"),
        (ShownFormats(None, "qwen3"), (None, None), ("hermes3", "qwen3"), "forced"),
        (NOTHING, ("none", "none"), (None, None), None),
        (NOTHING, ("phi4", None), ("phi4", None), "strict"),
        # The format that wasn't requested gives way.
        (GPTOSS, (None, None), ("gptoss", "gptoss"), "taught"),
        (GPTOSS, ("hermes3", None), ("hermes3", None), "strict"),
        (GPTOSS, (None, "qwen3"), (None, "qwen3"), None),
        (THINKING, ("gptoss", None), ("gptoss", None), "taught"),
    ],
)
def test_the_formats_are_those_asked_for_or_shown(
    shown: ShownFormats,
    requested: tuple[str | None, str | None],
    names: tuple[str | None, str | None],
    calling: str | None,
) -> None:
    chosen = select_parsers(shown, *requested)
    tool, reasoning = names
    assert chosen.tool == TOOL_PARSERS.get(tool or "")
    assert chosen.reasoning == REASONING_PARSERS.get(reasoning or "")
    assert chosen.calling == calling


@pytest.mark.parametrize(
    ("shown", "requested", "described"),
    [
        (THINKING, (None, None), ["tool calls: hermes3", "reasoning: qwen3"]),
        (NOTHING, (None, None), ["tool calls: only if forced, as hermes3", "reasoning: none"]),
        (NOTHING, ("hermes", None), ["tool calls: hermes3", "reasoning: none"]),
        (THINKING, ("none", "none"), ["tool calls: none", "reasoning: none"]),
        (GPTOSS, (None, "qwen3"), ["tool calls: none", "reasoning: qwen3"]),
        (ShownFormats(OWN), (None, None), ["tool calls: as in the chat template", "reasoning: none"]),
    ],
)
def test_people_read_what_clients_do(
    shown: ShownFormats, requested: tuple[str | None, str | None], described: list[str]
) -> None:
    chosen = select_parsers(shown, *requested)
    assert list(chosen.described()) == described
    assert (chosen.calling is None) == ("tool calls: none" in described)


@pytest.mark.parametrize("requested", [("x", None), (None, "x"), ("gptoss", "qwen3"), ("hermes3", "onyx")])
def test_what_doesn_t_exist_or_go_together_is_refused(requested: tuple[str | None, str | None]) -> None:
    with pytest.raises(ValueError, match="format"):
        select_parsers(THINKING, *requested)


def test_there_is_a_parser_where_there_is_something_to_find() -> None:
    plain, armed = conversation("hi"), replace(conversation("hi"), tools=(WEATHER,))
    assert SelectedParsers(TOOL_PARSERS["hermes3"], None).parser(plain, thinking=False) is None
    assert SelectedParsers(None, None).parser(armed, thinking=False) is None
    assert SelectedParsers(TOOL_PARSERS["hermes3"], None).parser(armed, thinking=False)
    assert SelectedParsers().parser(plain, thinking=False)


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
