"""Answers are held to calls in every format, and to forms beside calls and thoughts."""

import json
from dataclasses import replace
from typing import Any

import pytest
from support.conversation import answer, ask, conversation, reasons, text
from support.engines import Sharing, running
from support.templates import THINKING
from support.tools import PARAMETERS, TIME, WEATHER, calls, with_tools

from specvino.engine.errors import ConstraintError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.output_parsers import MESSAGE_FRAMINGS, TOOL_PARSERS
from specvino.engine.request import JsonSchema, StructuralTag, Tool
from specvino.engine.segments import ReasoningDelta, Started

YES_NO = JsonSchema({"enum": ["yes", "no"]})
CITY = JsonSchema(PARAMETERS)
ANSWERS = ('"yes"', '"no"')


@pytest.mark.parametrize("name", TOOL_PARSERS)
def test_calls_are_forced_in_every_format(name: str, tiny_text: ModelSource, sharing: Sharing) -> None:
    """The tiny model was taught only one of them."""

    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, with_tools("hello", WEATHER, TIME, must_call=True, parallel_calls=False))
        [(tool, arguments)] = calls(segments)
        assert tool in ("get_weather", "get_time")
        assert json.loads(arguments)["city"] in ("Paris", "Rome")
        assert reasons(segments) == {0: "tool_calls"}
        # A form doesn't keep it from calling.
        segments = await answer(engine, with_tools("yes", WEATHER, constraint=YES_NO))
        assert text(segments) in ANSWERS or calls(segments)

    sharing(tiny_text, test, tool_parser=name, reasoning_parser="none")


@pytest.mark.parametrize("name", TOOL_PARSERS)
def test_several_calls_that_must_be_made_come_to_an_end_in_every_format(
    name: str, tiny_text: ModelSource, sharing: Sharing
) -> None:
    """And show no markup wherever they are cut. There are four calls that differ, and any of them may come again."""

    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, with_tools("hello", WEATHER, TIME, must_call=True, max_tokens=600))
        made = calls(segments)
        assert 1 <= len(made) == len(set(made))
        assert (text(segments), reasons(segments)) == ("", {0: "tool_calls"})
        for most in (1, 2, 3, 5, 8, 13, 21, 34):
            segments = await answer(engine, with_tools("hello", WEATHER, TIME, must_call=True, max_tokens=most))
            assert text(segments) == ""

    sharing(tiny_text, test, tool_parser=name, reasoning_parser="none")


def test_the_structured_output_or_a_call(tiny_text: ModelSource, sharing: Sharing) -> None:
    tag = {"type": "structural_tag", "format": {"type": "regex", "pattern": "[a-z]{3}"}}

    async def test(engine: OpenVINOEngine) -> None:
        called = await answer(engine, with_tools("weather Rome", WEATHER, constraint=YES_NO))
        assert calls(called) == [("get_weather", '{"city": "Rome"}')]
        assert reasons(called) == {0: "tool_calls"}
        assert text(await answer(engine, with_tools("json", WEATHER, constraint=CITY))) == '{"city": "Paris"}'
        # Who writes structural tags says in them what a call looks like.
        tagged = await answer(engine, with_tools("weather Rome", WEATHER, constraint=StructuralTag(tag)))
        assert len(text(tagged)) == 3

    sharing(tiny_text, test)


def test_what_the_prompt_has_begun_is_reasoning_and_a_constrained_answer_comes_behind_it(
    tiny_text: ModelSource, sharing: Sharing
) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, ask("think"))
        assert [s.text for s in segments if isinstance(s, ReasoningDelta)]
        assert text(segments) == "The answer is 4."
        request = replace(ask("think", max_tokens=80), prompts=(conversation("think"),), constraint=YES_NO)
        segments = await answer(engine, request)
        assert [s.text for s in segments if isinstance(s, ReasoningDelta)]
        assert text(segments) in ANSWERS
        segments = await answer(engine, with_tools("think", WEATHER, must_call=True, parallel_calls=False))
        assert [s.text for s in segments if isinstance(s, ReasoningDelta)]
        assert [name for name, _ in calls(segments)] == ["get_weather"]

    sharing(tiny_text, test, chat_template=THINKING)


@pytest.mark.parametrize("name", ["qwen3", "lfm2", "minicpm5", "gemma4"])
def test_a_model_that_is_told_to_reasons_before_its_structured_output(
    name: str, tiny_text: ModelSource, sharing: Sharing
) -> None:
    """The tiny model was taught to think as all but the last do."""

    async def test(engine: OpenVINOEngine) -> None:
        for reported in (False, True):
            prompt = replace(conversation("think"), variables=json.dumps({"enable_thinking": True} if reported else {}))
            request = replace(ask("think", max_tokens=120), prompts=(prompt,), constraint=YES_NO)
            segments = await answer(engine, request)
            assert text(segments) in ANSWERS
            reasoning_grammar = any(isinstance(segment, ReasoningDelta) for segment in segments)
            assert reasoning_grammar == (reported and name != "gemma4")

    sharing(tiny_text, test, tool_parser="none", reasoning_parser=name)


@pytest.mark.parametrize("name", MESSAGE_FRAMINGS)
def test_a_structured_output_stands_in_a_message_where_answers_do(
    name: str, tiny_text: ModelSource, sharing: Sharing
) -> None:
    """And nowhere else: without a parser its header would be a part of the answer."""

    async def test(engine: OpenVINOEngine) -> None:
        assert text(await answer(engine, replace(ask("yes"), constraint=YES_NO))) in ANSWERS
        called = await answer(engine, with_tools("yes", WEATHER, constraint=YES_NO))
        assert text(called) in ANSWERS or calls(called)

    sharing(tiny_text, test, tool_parser=name, reasoning_parser="none")


def test_what_is_wrong_with_a_tools_parameters_names_the_tool(tiny_text: ModelSource, sharing: Sharing) -> None:
    async def test(engine: OpenVINOEngine) -> None:
        cases: list[tuple[dict[str, Any], tuple[str, ...]]] = [
            ({"type": "object", "properties": {"a": {"type": "nothing"}}}, ("properties", "a", "type")),
            ({"type": "string"}, ("type",)),
        ]
        for parameters, path in cases:
            wrong = Tool("f", None, parameters)
            with pytest.raises(ConstraintError) as error:
                await answer(engine, with_tools("hi", WEATHER, wrong, must_call=True))
            assert (error.value.tool, error.value.path) == (1, path)
            # Nothing is held to the parameters of a tool that nobody forces.
            assert text(await answer(engine, with_tools("hello", WEATHER, wrong)))

    sharing(tiny_text, test)


def test_what_can_t_be_enforced_is_named_or_refused(tiny_text: ModelSource, sharing: Sharing) -> None:
    parameters = {
        "type": "object",
        "properties": {"n": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}},
    }
    loose = Tool("f", None, parameters)

    async def test(engine: OpenVINOEngine) -> None:
        started, *_ = await answer(engine, with_tools("hi", WEATHER, loose, must_call=True))
        assert isinstance(started, Started)
        assert started.unenforced_arguments == ((1, ("properties", "n", "uniqueItems")),)
        with pytest.raises(ConstraintError) as error:
            await answer(engine, with_tools("hi", replace(loose, strict=True), must_call=True))
        assert error.value.unsupported
        assert error.value.tool == 0

    sharing(tiny_text, test)


def test_what_the_format_cant_say_is_named_or_refused(tiny_text: ModelSource) -> None:
    parameters = {
        "type": "object",
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {}, "b": {}},
    }
    loose = Tool("f", None, parameters)

    async def test(engine: OpenVINOEngine) -> None:
        started, *_ = await answer(engine, with_tools("hi", WEATHER, loose, must_call=True))
        assert isinstance(started, Started)
        assert started.unenforced_arguments == ((1, ("anyOf",)),)
        with pytest.raises(ConstraintError) as error:
            await answer(engine, with_tools("hi", replace(loose, strict=True), must_call=True))
        assert (error.value.unsupported, error.value.tool, error.value.path) == (True, 0, ("anyOf",))

    running(tiny_text, test, tool_parser="minicpm5")


def test_tools_may_be_too_much_together(tiny_text: ModelSource, sharing: Sharing) -> None:
    """Each is sound by itself; what is said against them leads into nothing that the client has written."""
    tools = [
        Tool(f"f{i}", parameters={"properties": {"a": {"type": "string", "pattern": f"^[a-z{i}]{{15}}$"}}})
        for i in range(20)
    ]

    async def test(engine: OpenVINOEngine) -> None:
        with pytest.raises(ConstraintError, match=r"most tokens fit at \d+ places") as caught:
            await answer(engine, with_tools("hello", *tools, must_call=True))
        assert (caught.value.tool, caught.value.path) == (None, ())
        assert calls(await answer(engine, with_tools("hello", *tools[:10], must_call=True)))

    sharing(tiny_text, test)


ROME = {"type": "object", "properties": {"city": {"enum": ["Rome"]}}, "required": ["city"]}


def test_a_call_that_nobody_forces_keeps_to_its_schema(tiny_text: ModelSource, sharing: Sharing) -> None:
    held = replace(WEATHER, parameters=ROME, held=True)

    async def test(engine: OpenVINOEngine) -> None:
        for tools in ((held, TIME), (TIME, held)):
            segments = await answer(engine, with_tools("weather Paris", *tools))
            assert calls(segments) == [("get_weather", '{"city": "Rome"}')]
        free = await answer(engine, with_tools("weather Paris", replace(held, held=False)))
        assert calls(free) == [("get_weather", '{"city": "Paris"}')]
        # What is no call is what it would be, and ends by itself.
        plain = await answer(engine, with_tools("hello", replace(held, held=False)))
        segments = await answer(engine, with_tools("hello", held))
        assert (text(segments), reasons(segments)) == (text(plain), reasons(plain))

    sharing(tiny_text, test)


def test_several_calls_that_nobody_forces_keep_to_their_schemas(tiny_text: ModelSource, sharing: Sharing) -> None:
    held = replace(WEATHER, parameters=ROME, held=True), replace(TIME, parameters=ROME, held=True)

    async def test(engine: OpenVINOEngine) -> None:
        segments = await answer(engine, with_tools("both Paris", *held))
        assert [arguments for _, arguments in calls(segments)] == ['{"city": "Rome"}'] * 2
        assert reasons(segments) == {0: "tool_calls"}

    sharing(tiny_text, test)
