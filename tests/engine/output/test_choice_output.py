"""A choice's tokens become texts, thoughts and calls, and its finish says how it ended."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.conversation import GREEDY, conversation, text
from support.tools import TIME, WEATHER, calls

from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output.choice_text import ChoiceText
from specvino.engine.output.detokenizer import ByteTableDetokenizer
from specvino.engine.output_parsers.selection import AS_TAUGHT
from specvino.engine.segments import (
    Finish,
    FinishReason,
    ReasoningDelta,
    Segment,
    TextDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
)

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
OTHER = CALL.replace("weather", "time")
THOUGHT = "<think>\nhm, 4\n</think>\n\n"


def output(
    written: str,
    finish: FinishReason = "stop",
    size: int = 1,
    step: int = 1,
    parallel: bool = True,
    must_call: bool = False,
    **sampling: Any,
) -> tuple[list[Segment], ChoiceOutput]:
    """Returns the segments of tokens of `size` bytes, `step` of which come at a time; each is less likely than the one
    before, and the choice."""
    data = written.encode()
    table = [data[start : start + size] for start in range(0, len(data), size)]
    text = ChoiceText(ByteTableDetokenizer(table), replace(GREEDY, **sampling), logprobs=True)
    prompt = replace(conversation("hi"), tools=(WEATHER, TIME))
    parser = AS_TAUGHT.parser(prompt, thinking=False)
    choice = ChoiceOutput(0, text, parser, must_call=must_call, parallel_calls=parallel)
    segments: list[Segment] = []
    for start in range(0, len(table), step):
        ids = list(range(start, min(start + step, len(table))))
        segments += choice.push(ids, [-1.0 - id for id in ids], finish if ids[-1] == len(table) - 1 else None)
        if segments and isinstance(segments[-1], Finish):
            break
    return segments, choice


def end(segments: list[Segment]) -> str:
    assert isinstance(segments[-1], Finish)
    return segments[-1].reason


def thoughts(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments if isinstance(segment, ReasoningDelta))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_reasoning_text_and_calls(size: int) -> None:
    segments, _ = output(THOUGHT + "Let me look.\n" + CALL + "\n" + OTHER, size=size)
    assert thoughts(segments) == "hm, 4"
    assert text(segments).strip() == "Let me look."
    assert calls(segments) == [("get_weather", '{"city": "Rome"}'), ("get_time", '{"city": "Rome"}')]
    assert end(segments) == "tool_calls"


def test_a_step_gives_one_piece_of_a_text() -> None:
    segments, _ = output("one two three", step=5)
    assert [segment.text for segment in segments if isinstance(segment, TextDelta)] == ["one t", "wo th", "ree"]


@pytest.mark.parametrize("cut", range(1, len(CALL)))
def test_what_is_cut_inside_a_call_is_no_call_to_make(cut: int) -> None:
    segments, _ = output(CALL[:cut], "length")
    assert end(segments) == "length"
    segments, _ = output(CALL[:cut])
    is_complete = cut > CALL.index("}}")
    assert end(segments) == ("tool_calls" if is_complete else "stop")
    assert [s.complete for s in segments if isinstance(s, ToolCallEnd)] in ([], [is_complete])


@pytest.mark.parametrize("reason", ["stop", "length"])
@pytest.mark.parametrize("cut", range(len("<tool_call>"), len(CALL)))
def test_of_a_call_that_is_cut_no_markup_is_shown(cut: int, reason: FinishReason) -> None:
    segments, choice = output("So: " + CALL[:cut], reason)
    assert text(segments) == "So: "
    assert len(logprobs(segments)) == choice.tokens


@pytest.mark.parametrize("length", range(1, len("<tool_call>")))
def test_a_part_of_a_marker_is_text_unless_the_limit_cuts_it(length: int) -> None:
    part = "<tool_call>"[:length]
    assert text(output("a " + part)[0]) == "a " + part
    assert text(output("a " + part, "length")[0]) == "a "
    assert text(output(f"a {part}.", stop=(".",))[0]) == "a " + part
    assert text(output(part, "stop", must_call=True)[0]) == ""


def test_a_stop_string_within_a_call_s_head_leaves_no_markup() -> None:
    segments, _ = output("So: " + CALL, stop=("get_",))
    assert (text(segments), end(segments)) == ("So: ", "stop")


def test_what_is_no_call_stays_though_it_is_cut() -> None:
    unknown = CALL.replace("get_weather", "get_rain")
    for cut in range(unknown.index("rain") + 1, unknown.index("</") + 1):
        assert text(output(unknown[:cut], "length")[0]) == unknown[:cut]


def test_all_calls_must_be_whole() -> None:
    segments, _ = output(CALL + OTHER[:-20])
    assert end(segments) == "stop"
    assert [s.complete for s in segments if isinstance(s, ToolCallEnd)] == [True, False]


def test_a_stop_string_ends_a_call_too() -> None:
    segments, choice = output(CALL, stop=("Ro",))
    assert end(segments) == "stop"
    assert choice.tokens == CALL.index("Ro") + 2
    assert [s.complete for s in segments if isinstance(s, ToolCallEnd)] == [False]
    assert "".join(s.text for s in segments if isinstance(s, ToolCallArguments)) == '{"city": "'


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_single_call_is_the_last_thing(size: int) -> None:
    segments, choice = output(CALL + OTHER, parallel=False, size=size)
    assert calls(segments) == [("get_weather", '{"city": "Rome"}')]
    assert end(segments) == "tool_calls"
    assert choice.tokens == -(-(CALL.index("}") + 1) // size)


def test_behind_a_broken_call_a_single_one_gets_no_company() -> None:
    segments, _ = output('<tool_call>{"name": "get_time", "arguments": {x</tool_call>' + CALL, parallel=False)
    assert [s.name for s in segments if isinstance(s, ToolCallStart)] == ["get_time"]
    assert end(segments) == "stop"


TWO = CALL + "\n" + OTHER
CALLED = [("get_weather", '{"city": "Rome"}'), ("get_time", '{"city": "Rome"}')]


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("again", [CALL, OTHER])
def test_who_must_call_ends_where_a_call_repeats_itself(again: str, size: int) -> None:
    segments, choice = output(TWO + "\n" + again + "\n" + CALL, size=size, must_call=True)
    assert calls(segments) == CALLED
    assert end(segments) == "tool_calls"
    repeated = len(TWO + "\n") + again.index("}") + 1
    assert choice.tokens == -(-repeated // size)


def test_who_may_call_may_repeat_a_call() -> None:
    segments, _ = output(CALL + CALL + CALL)
    assert calls(segments) == CALLED[:1] * 3


@pytest.mark.parametrize("cut", range(len(TWO) + 1, len(TWO) + len(CALL)))
def test_who_must_call_has_called_though_a_repeated_call_is_cut(cut: int) -> None:
    segments, _ = output(f"{TWO}\n{CALL}"[:cut], "length", must_call=True)
    assert (calls(segments), text(segments)) == (CALLED, "")
    assert end(segments) == "tool_calls"


def test_who_must_call_ends_for_its_length_if_another_call_is_cut() -> None:
    segments, _ = output(f"{TWO}\n{CALL.replace('Rome', 'Rhodes')}"[:-20], "length", must_call=True)
    assert [s.complete for s in segments if isinstance(s, ToolCallEnd)] == [True, True, False]
    assert end(segments) == "length"


def test_tokens_of_reasoning_are_counted() -> None:
    _, choice = output(THOUGHT + "4")
    assert choice.reasoning_tokens == THOUGHT.index("</think>") + len("</think>") - 1 - THOUGHT.index(">")


def test_without_a_parser_all_is_text() -> None:
    table = [CALL.encode()]
    choice = ChoiceOutput(0, ChoiceText(ByteTableDetokenizer(table), GREEDY))
    assert list(choice.push([0], None, "stop")) == [TextDelta(0, CALL), Finish(0, "stop")]


def logprobs(segments: list[Segment]) -> list[float | None]:
    return [token.logprob for segment in segments for token in getattr(segment, "logprobs", ())]


@given(
    st.lists(st.sampled_from([THOUGHT, CALL, OTHER, "a", " b\n", "<thi", "<tool_call>", "é"]), max_size=6).map("".join),
    st.integers(1, 9),
    st.integers(1, 4),
    st.booleans(),
)
def test_no_token_s_logprob_is_lost_and_the_texts_are_the_tokens(
    written: str, size: int, step: int, must_call: bool
) -> None:
    segments, choice = output(written or "x", size=size, step=step, must_call=must_call)
    assert logprobs(segments) == [-1.0 - id for id in range(choice.tokens)]
    for segment in segments:
        if isinstance(segment, TextDelta | ReasoningDelta) and size == 1:
            assert "".join(token.text for token in segment.logprobs) == segment.text


def budgeted(written: str, budget: int, *, step: int, thinking: bool = False) -> tuple[list[Segment], ChoiceOutput]:
    """Tokens are characters; what is pushed ends where the choice is overspent, or at its end."""
    table = [character.encode() for character in written]
    text = ChoiceText(ByteTableDetokenizer(table), GREEDY)
    parser = AS_TAUGHT.parser(conversation("hi"), thinking=thinking)
    choice = ChoiceOutput(0, text, parser, thinking_budget=budget, thinking=thinking)
    segments: list[Segment] = []
    for start in range(0, len(table), step):
        if choice.overspent:
            break
        ids = list(range(start, min(start + step, len(table))))
        segments += choice.push(ids, None, "stop" if ids[-1] == len(table) - 1 else None)
    return segments, choice


@pytest.mark.parametrize("step", [1, 3, 100])
@pytest.mark.parametrize("thinking", [False, True])
def test_a_budget_counts_tokens_between_the_tags(step: int, thinking: bool) -> None:
    begin = "" if thinking else "<think>"
    segments, choice = budgeted(begin + "abcdef</think>x", 4, step=step, thinking=thinking)
    assert choice.overspent
    assert choice.tokens == len(begin) + 4
    assert segments == [] or all(isinstance(segment, ReasoningDelta) for segment in segments)
    _, choice = budgeted(begin + "abc</think>x", 99, step=step, thinking=thinking)
    assert not choice.overspent
    _, choice = budgeted("no thought", 0, step=step)
    assert not choice.overspent


def test_nothing_is_left_for_what_a_prompt_has_begun() -> None:
    text = ChoiceText(ByteTableDetokenizer([b"</think>", b"x"]), GREEDY)
    choice = ChoiceOutput(
        0, text, AS_TAUGHT.parser(conversation("hi"), thinking=True), thinking_budget=0, thinking=True
    )
    assert choice.overspent
    assert (list(choice.close_reasoning([0], None)), choice.overspent) == ([], False)
    assert list(choice.push([1], None, "stop")) == [TextDelta(0, "x"), Finish(0, "stop")]
    assert (choice.tokens, choice.reasoning_tokens) == (2, 0)
