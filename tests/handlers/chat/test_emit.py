"""Chunks obey the document's stream table, and their fold is what an independent fold makes of them."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from support.segments import answers, one_by_one

from specvino.conformance.streams.fold import fold_chat
from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.engine.segments import (
    Finish,
    ReasoningDelta,
    Started,
    TextDelta,
    TokenIds,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated.streams import STREAMS
from specvino.handlers.chat.emit import ChatEmitter, fold
from specvino.handlers.tools import OfferedTool, ToolCalling
from specvino.server.validation.schema import SchemaCheck

ANSWERS = answers(st.integers(1, 4), calls=True)


def emit(n, segments, **form):
    emitter = ChatEmitter("m", n, top_logprobs=n % 2 == 0, **form)
    return [chunk for segment in segments for chunk in emitter.feed(segment)]


@given(ANSWERS)
def test_chunks_obey_the_stream_table(answer) -> None:
    judge = StreamValidator(STREAMS["chat"])
    violations = [violation for chunk in emit(*answer) for violation in judge.feed(chunk)]
    assert [*violations, *judge.end(terminated=True)] == []


@given(ANSWERS)
def test_every_chunk_and_the_fold_fit_the_document(answer) -> None:
    chunks = emit(*answer)
    for chunk in chunks:
        EVENT.require(chunk)
    UNARY.require(asyncio.run(fold(one_by_one(chunks))))


EVENT, UNARY = SchemaCheck.of_component("ChatCompletionStreamEvent"), SchemaCheck.of_component("ChatCompletion")


@given(ANSWERS)
def test_the_fold_is_what_an_independent_one_makes(answer) -> None:
    chunks = emit(*answer)
    assert asyncio.run(fold(one_by_one(chunks))) == fold_chat(chunks)


@given(ANSWERS)
def test_the_role_of_each_choice_stands_beside_an_empty_text_and_no_other_text_is_empty(answer) -> None:
    n, segments = answer
    first, rest = emit(n, segments)[:n], emit(n, segments)[n:]
    assert [chunk["choices"][0]["delta"] for chunk in first] == [{"role": "assistant", "content": ""}] * n
    deltas = [choice["delta"] for chunk in rest for choice in chunk["choices"]]
    assert not any("role" in delta or delta.get("content") == "" for delta in deltas)


def call(*segments, **form):
    chunks = emit(1, [Started(1), *segments, Finish(0, "tool_calls"), Usage(1, 9, 4)], **form)
    return asyncio.run(fold(one_by_one(chunks))), [chunk["choices"][0]["delta"] for chunk in chunks[1:-2]]


CALL = [ToolCallStart(0, 0, "f"), ToolCallArguments(0, 0, "{"), ToolCallArguments(0, 0, "}"), ToolCallEnd(0, 0, True)]


def test_a_calls_first_piece_says_what_it_is_and_the_others_go_on() -> None:
    answer, deltas = call(*CALL, ToolCallStart(0, 1, "g"), ToolCallEnd(0, 1, True))
    pieces = [piece for delta in deltas for piece in delta["tool_calls"]]
    ids = [piece["id"] for piece in pieces if "id" in piece]
    assert all(id.startswith("call_") for id in ids)
    assert len(set(ids)) == 2
    assert pieces == [
        {"index": 0, "id": ids[0], "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": "{"}},
        {"index": 0, "function": {"arguments": "}"}},
        {"index": 1, "id": ids[1], "type": "function", "function": {"name": "g", "arguments": ""}},
    ]
    assert answer["choices"][0]["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "tool_calls": [
            {"id": ids[0], "type": "function", "function": {"name": "f", "arguments": "{}"}},
            {"id": ids[1], "type": "function", "function": {"name": "g", "arguments": ""}},
        ],
    }
    assert answer["choices"][0]["finish_reason"] == "tool_calls"
    assert answer["usage"]["completion_tokens_details"] == {"reasoning_tokens": 4}


def test_reasoning_has_two_names_and_stands_beside_the_text() -> None:
    answer, deltas = call(ReasoningDelta(0, "h"), ReasoningDelta(0, "m"), TextDelta(0, "a"), *CALL)
    assert deltas[:2] == [{"reasoning_content": text, "reasoning": text} for text in "hm"]
    message = answer["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"], message["reasoning"]) == ("a", "hm", "hm")


def test_reasoning_without_an_answer_leaves_an_empty_text() -> None:
    assert call(ReasoningDelta(0, "h"))[0]["choices"][0]["message"]["content"] == ""


def test_a_legacy_function_call() -> None:
    answer, deltas = call(*CALL, tools=ToolCalling(legacy=True))
    assert deltas == [{"function_call": {"name": "f", "arguments": ""}}] + [
        {"function_call": {"arguments": piece}} for piece in "{}"
    ]
    message = answer["choices"][0]["message"]
    assert (message["content"], message["function_call"]) == (None, {"name": "f", "arguments": "{}"})
    assert "tool_calls" not in message
    assert answer["choices"][0]["finish_reason"] == "function_call"


@given(ANSWERS)
def test_no_delta_says_nothing(answer) -> None:
    for chunk in emit(*answer):
        for choice in chunk["choices"]:
            assert choice["delta"] or choice["finish_reason"]


def test_a_chunk_has_the_tokens_up_to_its_own() -> None:
    segments = [TokenIds(0, (1, 2)), TextDelta(0, "a"), TokenIds(0, (3,)), Finish(0, "stop"), Usage(2, 3)]
    chunks = emit(1, [Started(2, prompt_token_ids=((7, 8),)), *segments], token_ids=True, echo="b")
    pieces = [choice for chunk in chunks for choice in chunk["choices"]]
    assert [piece.get("token_ids") for piece in pieces] == [None, [], [1, 2], [3]]
    assert [chunk.get("prompt_token_ids") for chunk in chunks] == [[7, 8], None, None, None, None]
    whole = asyncio.run(fold(one_by_one(chunks)))
    UNARY.require(whole)
    (choice,) = whole["choices"]
    assert (choice["message"]["content"], choice["token_ids"], whole["prompt_token_ids"]) == ("ba", [1, 2, 3], [7, 8])
    assert whole == fold_chat(chunks)


def test_a_call_of_a_custom_tool() -> None:
    arguments = [ToolCallArguments(0, 0, piece) for piece in ('{"in', 'put": "a\\', 'nb"', "}")]
    tools = ToolCalling(offered=(OfferedTool("tools.0", "c", kind="custom"),))
    answer, deltas = call(ToolCallStart(0, 0, "c"), *arguments, ToolCallEnd(0, 0, True), tools=tools)
    (called,) = answer["choices"][0]["message"]["tool_calls"]
    assert (called["type"], called["custom"]) == ("custom", {"name": "c", "input": "a\nb"})
    pieces = [piece["custom"] for delta in deltas for piece in delta["tool_calls"]]
    assert pieces[0] == {"name": "c", "input": ""}
    assert [piece["input"] for piece in pieces[1:] if piece["input"]] == ["a", "\nb"]


def test_arguments_without_an_input_are_the_input_of_a_custom_tool() -> None:
    tools = ToolCalling(offered=(OfferedTool("tools.0", "c", kind="custom"),))
    answer, _ = call(
        ToolCallStart(0, 0, "c"), ToolCallArguments(0, 0, '{"x": 1}'), ToolCallEnd(0, 0, True), tools=tools
    )
    assert answer["choices"][0]["message"]["tool_calls"][0]["custom"]["input"] == '{"x": 1}'
