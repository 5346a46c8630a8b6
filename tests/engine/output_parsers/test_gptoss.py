from collections.abc import Sequence

import pytest
from support.formats import TOOLS, Call, Outcome, parsed

from specvino.engine.output_parsers import Tool

ANALYSIS = "<|channel|>analysis<|message|>Let me think.<|end|>"
CALL = '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>'
WEATHER = Call("get_weather", {"city": "Paris"})


def test_reasoning_then_the_answer() -> None:
    text = ANALYSIS + "<|start|>assistant<|channel|>final<|message|>Hello, <b>you</b>.<|return|>"
    assert parsed("gptoss", text, "gptoss") == Outcome("Hello, <b>you</b>.", "Let me think.")


def test_reasoning_a_preamble_and_a_call() -> None:
    preamble = "<|start|>assistant<|channel|>commentary<|message|>I'll look it up.<|end|>"
    got = parsed("gptoss", f"{ANALYSIS}{preamble}<|start|>assistant{CALL}", "gptoss")
    assert got == Outcome("I'll look it up.", "Let me think.", [WEATHER])


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        CALL.removesuffix("<|call|>"),
        CALL.replace("functions.", ""),
        CALL.replace("commentary", "analysis"),
        CALL.replace(" <|constrain|>json", ""),
        CALL.replace("<|constrain|>json", "json"),
        CALL.replace("<|message|>", "<|message|>\n  "),
        ' to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
        'to=functions.get_weather<|channel|>commentary json<|message|>{"city": "Paris"} <|call|>',
        f"<|start|>assistant{CALL}",
    ],
)
def test_one_call(text: str) -> None:
    assert parsed("gptoss", text, "gptoss") == Outcome(calls=[WEATHER])


def test_several_calls() -> None:
    got = parsed("gptoss", f"{CALL}<|start|>assistant{CALL}", "gptoss")
    assert got == Outcome(calls=[WEATHER, WEATHER])


def test_segments_of_one_kind_are_joined_by_a_line_break() -> None:
    final = "<|start|>assistant<|channel|>final<|message|>A.<|end|>"
    got = parsed("gptoss", f"{ANALYSIS}<|start|>assistant{ANALYSIS}{final}{final}", "gptoss")
    assert got == Outcome("A.\nA.", "Let me think.\nLet me think.")


def test_thinking_that_is_cut_is_reasoning() -> None:
    assert parsed("gptoss", "<|channel|>analysis<|message|>Let me", "gptoss") == Outcome(reasoning="Let me")
    assert parsed("gptoss", "Let me<|end|>", "gptoss", inside=True) == Outcome(reasoning="Let me")


def test_an_answer_that_is_cut_is_content() -> None:
    assert parsed("gptoss", "<|channel|>final<|message|>Let me", "gptoss") == Outcome("Let me")


@pytest.mark.parametrize(
    "text",
    [
        "<|channel|>",
        "<|channel|>anal",
        "<|start|>assistant<|channel|>final",
        "<|message|>",
        "<|channel|>commentary to=functions.get_wea",
        "<|channel|>commentary to=functions.get_weather<|message|>",
        "to=functions.get_weather<|message|>\n",
    ],
)
@pytest.mark.parametrize("cut", [False, True])
def test_a_header_that_is_cut_is_nothing(text: str, cut: bool) -> None:
    assert parsed("gptoss", text, "gptoss", cut=cut) == Outcome()


@pytest.mark.parametrize("text", ["<|chan", "to=functions.get_wea", " to="])
def test_what_may_be_prose_is_nothing_only_where_the_output_is_cut(text: str) -> None:
    assert parsed("gptoss", text, "gptoss") == Outcome(text)
    assert parsed("gptoss", text, "gptoss", cut=True) == Outcome()


@pytest.mark.parametrize("tools", [(), TOOLS])
def test_the_end_of_a_message_to_nobody_is_text(tools: Sequence[Tool]) -> None:
    text = "<|channel|>commentary to=functions.nope<|message|>a <"
    assert parsed("gptoss", text, "gptoss", tools=tools) == Outcome(text)


def test_a_message_to_nobody_is_text_though_it_is_cut() -> None:
    text = "<|channel|>commentary to=functions.nope<|message|>{"
    assert parsed("gptoss", text, "gptoss", cut=True) == Outcome(text)


def test_without_the_reasoning_parser_thinking_is_content() -> None:
    text = f"{ANALYSIS}<|start|>assistant<|channel|>final<|message|>Yes.<|return|>"
    assert parsed("gptoss", text, None) == Outcome("Let me think.\nYes.")


def test_without_tools_a_call_is_text() -> None:
    assert parsed("gptoss", CALL, "gptoss", tools=()) == Outcome(CALL.removesuffix("<|call|>"))
    assert parsed(None, CALL, "gptoss") == Outcome(CALL.removesuffix("<|call|>"))


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        "  Hello\n",
        CALL.replace("get_weather", "nope").removesuffix("<|call|>"),
        CALL.replace('{"city": "Paris"}', "Paris").removesuffix("<|call|>"),
        "to" * 5,
        f"<|channel|>{'x' * 600}",
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("gptoss", text, "gptoss") == Outcome(text)


def test_arguments_that_break_off() -> None:
    got = parsed("gptoss", CALL.replace('"Paris"', "Paris"), "gptoss")
    assert got == Outcome("Paris}", calls=[Call("get_weather", '{"city": ', complete=False)])


def test_a_message_without_an_end_stops_at_the_next_header() -> None:
    text = "<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>Yes."
    assert parsed("gptoss", text, "gptoss") == Outcome("Yes.", "Hm.")


def test_a_constrained_answer_is_content() -> None:
    text = '<|channel|>final <|constrain|>json<|message|>{"a": 1}<|return|>'
    assert parsed("gptoss", text, "gptoss") == Outcome('{"a": 1}')
