"""The terminator comes once and last, everything before it is JSON, and events have the names that they should have."""

import json

import pytest
from support.response_events import correct, numbered

from specvino.conformance.streams.sse import ServerSentEvent
from specvino.conformance.streams.stream_validator import SseValidator
from specvino.generated.streams import STREAMS

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta, finish=None):
    return json.dumps({**HEAD, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]})


EVENTS = [chunk({"role": "assistant"}), chunk({"content": "a"}), chunk({}, "stop")]


RESPONSES = STREAMS["responses"]
NAMED = [ServerSentEvent(json.dumps(event), event["type"]) for event in numbered(correct())]


def judge(table, sent):
    validator = SseValidator(table)
    return [*(violation for event in sent for violation in validator.feed(event)), *validator.end()]


def test_good_streams() -> None:
    assert judge(STREAMS["chat"], map(ServerSentEvent, [*EVENTS, "[DONE]"])) == []
    assert judge(RESPONSES, NAMED) == []


@pytest.mark.parametrize(
    ("data", "violation"),
    [
        (EVENTS, "the stream doesn't end with [DONE]"),
        ([*EVENTS, "[DONE]", "[DONE]"], "[DONE] comes a second time"),
        (["[DONE]", *EVENTS], "an event comes after [DONE]"),
        ([*EVENTS, "[END]", "[DONE]"], "an event isn't JSON: [END]"),
        ([*EVENTS, '{"n": NaN}', "[DONE]"], 'an event isn\'t JSON: {"n": NaN}'),
        ([*EVENTS, "3", "[DONE]"], "an event isn't a JSON object: 3"),
        ([EVENTS[1], *EVENTS, "[DONE]"], "content comes before choice 0 was opened by role"),
    ],
)
def test_a_broken_stream(data, violation) -> None:
    assert judge(STREAMS["chat"], map(ServerSentEvent, data))[0].startswith(violation)


def test_a_name_where_there_are_none() -> None:
    sent = [*map(ServerSentEvent, EVENTS), ServerSentEvent("[DONE]", "end")]
    assert judge(STREAMS["chat"], sent) == [
        "an event is named end, but events of this stream must not have an `event:` line"
    ]


@pytest.mark.parametrize(
    ("name", "problem"),
    [("response.in_progress", "is named response.in_progress, but"), ("message", "has no `event:` line;")],
)
def test_another_name_than_the_type(name: str, problem: str) -> None:
    sent = [ServerSentEvent(NAMED[0].data, name), *NAMED[1:]]
    assert judge(RESPONSES, sent) == [f"an event {problem} its type is 'response.created'"]


def test_a_terminator_where_there_is_none() -> None:
    assert judge(RESPONSES, [*NAMED, ServerSentEvent("[DONE]")]) == ["an event isn't JSON: [DONE]"]
