"""The scripted engine calls tools and thinks: as it is told, and as the message has it."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from support.conversation import answer, ask, conversation, reasons, text
from support.tools import PARAMETERS, TIME, WEATHER, calls, with_tools

from specvino.engine.errors import ConstraintError
from specvino.engine.output_parsers.selection import SelectedParsers
from specvino.engine.request import GenerationRequest, JsonSchema, Tool
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import ReasoningDelta, Segment, Started, Usage

CALL = ("get_weather", '{"city": "Rome"}')
WRITTEN = f'<tool_call>{{"name": "{CALL[0]}", "arguments": {CALL[1]}}}</tool_call>'


def answered(request: GenerationRequest, engine: ScriptedEngine | None = None) -> list[Segment]:
    async def run() -> list[Segment]:
        asked = engine or ScriptedEngine()
        await asked.start()
        return await answer(asked, request)

    return asyncio.run(run())


def thoughts(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments if isinstance(segment, ReasoningDelta))


def arguments(called: list[tuple[str, str]]) -> list[Any]:
    return [json.loads(written) for _, written in called]


def test_what_a_message_has_is_recognised() -> None:
    segments = answered(with_tools(f"<think>\nhm\n</think>\n\nSo: {WRITTEN}", WEATHER))
    assert (thoughts(segments), text(segments).strip(), calls(segments)) == ("hm", "So:", [CALL])
    assert reasons(segments) == {0: "tool_calls"}


def test_a_call_is_text_without_the_tool() -> None:
    assert text(answered(ask(WRITTEN))) == WRITTEN
    assert text(answered(with_tools(WRITTEN, TIME))) == WRITTEN


@pytest.mark.parametrize("parameters", [None, {}, {"properties": {}}])
def test_arguments_are_an_object_where_the_schema_says_nothing(parameters: dict[str, Any] | None) -> None:
    tool = Tool("get_time", None, parameters)
    assert arguments(calls(answered(with_tools("script: calls=1", tool)))) == [{}]


@pytest.mark.parametrize("temperature", [0, 1])
def test_directives_make_reasoning_and_calls(temperature: float) -> None:
    request = with_tools("script: think=1 calls=3\na b", WEATHER, TIME)
    segments = answered(replace(request, sampling=replace(request.sampling, temperature=temperature)))
    assert (thoughts(segments), text(segments)) == ("a b", "a b")
    assert [name for name, _ in calls(segments)] == ["get_weather", "get_time", "get_weather"]
    assert all(argument["city"] in ("Paris", "Rome") for argument in arguments(calls(segments)))
    assert isinstance(segments[-1], Usage)
    assert 0 < segments[-1].reasoning_tokens < segments[-1].completion_tokens


def test_a_template_s_variable_turns_reasoning_off() -> None:
    prompt = replace(conversation("script: think=1\na"), variables='{"enable_thinking": false}')
    assert thoughts(answered(replace(ask(""), prompts=(prompt,)))) == ""


@pytest.mark.parametrize(("parallel", "names"), [(True, ["get_weather", "get_time"]), (False, ["get_weather"])])
def test_forced_calls_are_made(parallel: bool, names: list[str]) -> None:
    segments = answered(with_tools("hi", WEATHER, TIME, must_call=True, parallel_calls=parallel))
    assert [name for name, _ in calls(segments)] == names
    assert reasons(segments) == {0: "tool_calls"}


@pytest.mark.parametrize("most", [1, 3, 20])
def test_forced_calls_do_not_repeat_themselves(most: int) -> None:
    segments = answered(with_tools(f"script: calls={most}\n", WEATHER, TIME, must_call=True))
    assert [name for name, _ in calls(segments)] == ["get_weather", "get_time"][:most]
    assert reasons(segments) == {0: "tool_calls"}


def test_calls_that_can_t_be_forced() -> None:
    wrong = Tool("f", None, {"type": "nothing"})
    with pytest.raises(ConstraintError) as error:
        answered(with_tools("hi", WEATHER, wrong, must_call=True))
    assert error.value.tool == 1
    assert text(answered(with_tools("hi", WEATHER, wrong))) == "hi"
    assert calls(answered(with_tools("script: calls=1\n", wrong))) == [("f", "{}")]


def test_what_of_the_parameters_does_not_hold() -> None:
    loose = Tool("f", None, {**PARAMETERS, "not": {"required": ["x"]}})
    started, *_ = answered(with_tools("hi", WEATHER, loose, must_call=True))
    assert isinstance(started, Started)
    assert started.unenforced_arguments == ((1, ("not",)),)


def test_a_structured_output_comes_before_what_the_message_wants() -> None:
    request = with_tools("hi", WEATHER, constraint=JsonSchema({"const": 1}))
    assert text(answered(request)) == "1"


def test_without_formats_all_is_text() -> None:
    engine = ScriptedEngine(parsers=SelectedParsers(None, None))
    written = f"<think>a</think>{WRITTEN}"
    assert text(answered(with_tools(written, WEATHER), engine)) == written
    assert engine.model.calling is None
