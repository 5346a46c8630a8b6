"""Lines obey the document's stream table, and their fold is what an independent fold makes of them."""

import asyncio
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.segments import answers, one_by_one

from specvino.conformance.streams.fold import fold_ollama_chat, fold_ollama_generate
from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.engine.segments import (
    Finish,
    ReasoningDelta,
    Started,
    TextDelta,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    TopToken,
    Usage,
)
from specvino.generated.streams import STREAMS
from specvino.handlers.ollama.emit import ChatLines, GenerateLines, fold_chat, fold_generate
from specvino.server.validation.schema import SchemaCheck

ANSWERS = answers(st.just(1), calls=True)
TEXTS = answers(st.just(1), calls=False)


def emit(lines, segments):
    return [line for segment in segments for line in lines.feed(segment)]


def chat(segments, *, top=0, loads=False):
    return emit(ChatLines("m", perf_counter(), top, loads=loads), segments)


def generate(segments):
    return emit(GenerateLines("m", perf_counter(), 0, loads=False), segments)


def violations(endpoint, lines):
    judge = StreamValidator(STREAMS[endpoint])
    return [*(violation for line in lines for violation in judge.feed(line)), *judge.end(terminated=True)]


@given(ANSWERS)
def test_lines_of_chat(answer) -> None:
    _, segments = answer
    lines = chat(segments)
    assert violations("ollama_chat", lines) == []
    for line in lines:
        CHAT.require(line)
    expected = fold_ollama_chat(lines)
    folded = asyncio.run(fold_chat(one_by_one(lines)))
    assert folded == expected
    CHAT.require(folded)


@given(TEXTS)
def test_lines_of_generate(answer) -> None:
    _, segments = answer
    lines = generate(segments)
    assert violations("ollama_generate", lines) == []
    for line in lines:
        GENERATE.require(line)
    expected = fold_ollama_generate(lines)
    folded = asyncio.run(fold_generate(one_by_one(lines)))
    assert folded == expected
    GENERATE.require(folded)


CHAT, GENERATE = SchemaCheck.of_component("OllamaChatEvent"), SchemaCheck.of_component("OllamaGenerateEvent")


def test_a_call_is_one_line() -> None:
    call = [ToolCallStart(0, 0, "f"), ToolCallArguments(0, 0, '{"a":'), ToolCallArguments(0, 0, " 1}")]
    segments = [Started(3), *call, ToolCallEnd(0, 0, complete=True), Finish(0, "tool_calls"), Usage(3, 9)]
    first, last = chat(segments)
    (made,) = first["message"]["tool_calls"]
    assert made["function"] == {"index": 0, "name": "f", "arguments": {"a": 1}}
    assert (first["done"], last["done"], last["done_reason"]) == (False, True, "stop")


@pytest.mark.parametrize("arguments", ['{"a": 1', "[1]", ""])
def test_arguments_that_are_no_object_are_left_out(arguments) -> None:
    pieces = [ToolCallArguments(0, 0, arguments)] if arguments else []
    call = [ToolCallStart(0, 0, "f"), *pieces, ToolCallEnd(0, 0, complete=False)]
    first, _ = chat([Started(3), *call, Finish(0, "length"), Usage(3, 9)])
    assert first["message"]["tool_calls"][0]["function"]["arguments"] == {}


def test_the_last_line_has_the_measurements() -> None:
    segments = [Started(3), ReasoningDelta(0, "so"), TextDelta(0, "a"), Finish(0, "length"), Usage(3, 2)]
    thought, text, last = chat(segments)
    assert thought["message"] == {"role": "assistant", "content": "", "thinking": "so"}
    assert text["message"] == {"role": "assistant", "content": "a"}
    assert (last["done_reason"], last["prompt_eval_count"], last["eval_count"]) == ("length", 3, 2)
    parts = last["load_duration"] + last["prompt_eval_duration"] + last["eval_duration"]
    assert abs(last["total_duration"] - parts) <= 1  # rounded


def test_what_only_loads_has_none() -> None:
    (line,) = chat([Started(0), Finish(0, "stop"), Usage(0, 0)], loads=True)
    assert line.keys() == {"model", "created_at", "message", "done", "done_reason"}
    assert (line["done"], line["done_reason"]) == (True, "load")


@pytest.mark.parametrize("top", [0, 1])
def test_logprobs_of_tokens_without_text_come_with_the_next_line(top) -> None:
    likely = (TopToken("a", b"a", -0.5, chosen=True), TopToken("b", None, -1.5))
    token, control = TokenLogprob("a", b"a", -0.5, likely), TokenLogprob("", None, -2.0)
    call = [ToolCallStart(0, 0, "f", (token,)), ToolCallEnd(0, 0, complete=True)]
    called, last = chat([Started(3), *call, Finish(0, "stop", (control,)), Usage(3, 2)], top=top)
    (shown,) = called["logprobs"]
    best = [{"token": "a", "logprob": -0.5, "bytes": [97]}]
    assert shown == {"token": "a", "logprob": -0.5, "bytes": [97]} | ({"top_logprobs": best} if top else {})
    assert [(logprob["token"], logprob["logprob"]) for logprob in last["logprobs"]] == [("", -2.0)]
