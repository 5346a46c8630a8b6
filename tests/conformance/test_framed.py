"""The terminator comes once and last, and everything before it is JSON."""

import json

import pytest

from specvino.conformance.framed import FramedJudge
from specvino.generated.streams import STREAMS

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(delta, finish=None):
    return json.dumps({**HEAD, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]})


EVENTS = [chunk({"role": "assistant"}), chunk({"content": "a"}), chunk({}, "stop")]


def judge(data):
    found = FramedJudge(STREAMS["chat"])
    return [*(violation for each in data for violation in found.feed(each)), *found.end()]


def test_a_good_stream():
    assert judge([*EVENTS, "[DONE]"]) == []


@pytest.mark.parametrize(
    ("data", "violation"),
    [
        (EVENTS, "the stream does not end with [DONE]"),
        ([*EVENTS, "[DONE]", "[DONE]"], "[DONE] comes a second time"),
        (["[DONE]", *EVENTS], "an event comes after [DONE]"),
        ([*EVENTS, "[END]", "[DONE]"], "an event is not JSON: "),
        ([*EVENTS, "3", "[DONE]"], "an event is no JSON object but 3"),
        ([EVENTS[1], *EVENTS, "[DONE]"], "content comes before choice 0 was opened by role"),
    ],
)
def test_a_broken_stream(data, violation):
    assert judge(data)[0].startswith(violation)
