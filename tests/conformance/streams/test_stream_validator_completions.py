"""A choice without an opening fact of its own begins with whatever comes first."""

import pytest

from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.generated.streams import STREAMS

TABLE = STREAMS["completions"]
HEAD = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "m"}


def chunk(index, text="", finish=None):
    return {**HEAD, "choices": [{"index": index, "text": text, "logprobs": None, "finish_reason": finish}]}


USAGE = {**HEAD, "choices": [], "usage": {"prompt_tokens": 1}}
GOOD = [chunk(0, "a"), chunk(1, finish="stop"), chunk(0, "b"), chunk(0, finish="length"), USAGE]
ERROR = {"error": {"message": "x"}}


def judge(events):
    validator = StreamValidator(TABLE)
    violations = [violation for event in events for violation in validator.feed(event)]
    return [*violations, *validator.end(terminated=True)]


def test_good_streams() -> None:
    assert judge(GOOD) == []
    assert judge(GOOD[:-1]) == [], "without usage"
    assert judge([GOOD[0], ERROR]) == []


@pytest.mark.parametrize(
    ("events", "violation"),
    [
        ([], "the stream has no events"),
        ([USAGE], "the stream has no events"),
        ([*GOOD[:2], *GOOD[4:]], "usage comes before choice 0 was closed by finish"),
        (GOOD[:3], "choice 0 was never closed by finish"),
        ([*GOOD[:4], GOOD[2]], "text comes after choice 0 was closed by finish"),
        ([*GOOD[:4], GOOD[3]], "finish comes after choice 0 was closed by finish"),
        ([GOOD[1]], "the values of index of choice are 1, not 0 to 0"),
        ([chunk(0, ""), *GOOD], "an event has no known content"),
        ([chunk(0, "a", finish="stop")], "one event states both text and finish of choice 0"),
        ([GOOD[0], ERROR, GOOD[3]], "finish of 0 comes after the stream was ended by error"),
    ],
)
def test_broken_streams(events, violation) -> None:
    violations = judge(events)
    assert any(violation in message for message in violations), violations
