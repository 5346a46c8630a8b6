"""Streams of lines of JSON: decoded however the bytes are cut, complete with the line that ends the answer."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.conformance.dialect import own_dialect
from specvino.conformance.streams.fold import fold_ollama_chat, fold_ollama_generate
from specvino.conformance.streams.lines import LineDecoder
from specvino.conformance.streams.sse import ServerSentEvent
from specvino.conformance.streams.stream_validator import SseValidator

TEXT = '{"a": "é 🎉"}\n\n{"b": 1}\r\n{"c'
HEAD = {"model": "m", "created_at": "2026-11-30T12:00:00Z"}


def part(done: bool = False, **members):
    return {**HEAD, "message": {"role": "assistant", "content": "", **members}, "done": done}


END = {**part(done=True), "done_reason": "stop", "eval_count": 3}
ERROR = {"error": "The engine was lost.", "param": None, "code": "engine_restarted"}


@given(st.lists(st.integers(0, len(TEXT.encode())), max_size=10))
def test_every_cut(cuts) -> None:
    raw = TEXT.encode()
    decoder = LineDecoder()
    places = [0, *sorted(cuts), len(raw)]
    events = [event for a, b in itertools.pairwise(places) for event in decoder.feed(raw[a:b])]
    assert events == [ServerSentEvent(data) for data in ('{"a": "é 🎉"}', "", '{"b": 1}')]
    assert decoder.incomplete
    assert list(decoder.feed(b'": 2}\n')) == [ServerSentEvent('{"c": 2}')]
    assert not decoder.incomplete


@pytest.mark.parametrize(
    ("lines", "violations"),
    [
        ([part(content="a"), part(thinking="b"), END], []),
        ([END], []),
        ([part(content="a"), ERROR], []),
        ([ERROR], []),
        ([], ["the stream has no events"]),
        ([part(content="a")], ["the stream was never ended by end"]),
        ([END, part(content="a")], ["content comes after the stream was ended by end"]),
        ([part(), END], ["an event has no known content"]),
        ([END, END], ["end comes after the stream was ended by end"]),
        ([part(content="a"), END | {"model": "n"}], ["model was 'm' and is now 'n'"]),
    ],
)
def test_an_answer_is_ended_by_a_line(lines, violations) -> None:
    table = own_dialect().stream("ollama_chat")
    assert table is not None
    judge = SseValidator(table)
    found = [violation for line in lines for violation in judge.feed(ServerSentEvent(json.dumps(line)))]
    assert [*found, *judge.end()] == violations


CALLS = [{"function": {"name": name, "arguments": {}}} for name in "fg"]


def test_a_conversation_s_lines_add_up() -> None:
    lines = [
        part(thinking="a"),
        part(thinking="b") | {"logprobs": [1]},
        *(part(content=text) for text in "cd"),
        *(part(tool_calls=[call]) for call in CALLS),
        END | {"logprobs": [2]},
    ]
    message = {"role": "assistant", "content": "cd", "thinking": "ab", "tool_calls": CALLS}
    assert fold_ollama_chat(lines) == {**END, "message": message, "logprobs": [1, 2]}
    assert fold_ollama_chat([END]) == END


def test_a_text_s_lines_add_up() -> None:
    end = {**HEAD, "response": "", "done": True, "done_reason": "length"}
    lines = [{**HEAD, "response": text, "done": False} for text in "ab"]
    assert fold_ollama_generate([*lines, end]) == {**end, "response": "ab"}
    assert fold_ollama_generate([*lines, {**end, "thinking": "c"}]) == {**end, "response": "ab", "thinking": "c"}


@pytest.mark.parametrize("fold", [fold_ollama_chat, fold_ollama_generate])
def test_an_error_adds_up_to_nothing(fold) -> None:
    with pytest.raises(KeyError):
        fold([ERROR])
