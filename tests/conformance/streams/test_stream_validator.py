"""The judge passes what the protocol allows and names each thing that it does not."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.generated.streams import STREAMS

HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def chunk(index=None, delta=None, finish=None, **fields):
    choice = {"index": index, "delta": delta or {}, "logprobs": None, "finish_reason": finish}
    return {**HEAD, "choices": [] if index is None else [choice], **fields}


ROLE = {"role": "assistant"}
GOOD = [
    chunk(0, ROLE),
    chunk(1, ROLE),
    chunk(0, {"content": "a"}),
    chunk(1, {"content": "b"}),
    chunk(0, finish="stop"),
    chunk(1, finish="length"),
    chunk(usage={"prompt_tokens": 1}),
]
ERROR = {"error": {"message": "x", "type": "server_error", "param": None, "code": "engine_restarted"}}


def judge(events, terminated=True):
    validator = StreamValidator(STREAMS["chat"])
    violations = [violation for event in events for violation in validator.feed(event)]
    return [*violations, *validator.end(terminated=terminated)]


def changed(at, **fields):
    events = copy.deepcopy(GOOD)
    events[at].update(fields)
    return events


def test_good_streams() -> None:
    assert judge(GOOD) == []
    assert judge(GOOD[:-1]) == [], "without usage"
    assert judge([*GOOD[:3], ERROR]) == [], "an error may cut it anywhere"
    assert judge([ERROR]) == []
    opening = chunk(0, {"role": "assistant", "content": ""})
    assert judge([opening, *GOOD[1:]]) == [], "an empty text states nothing"


BROKEN = {
    "nothing": ([], "has no events"),
    "no role": ([GOOD[2], chunk(0, finish="stop")], "content comes before choice 0 was opened by role"),
    "role twice": ([GOOD[0], *GOOD], "choice 0 is opened by role a second time"),
    "no finish": ([*GOOD[:5]], "choice 1 was never closed by finish"),
    "two finishes": ([*GOOD[:5], *GOOD[4:]], "finish comes after choice 0 was closed"),
    "content after finish": ([*GOOD[:6], chunk(0, {"content": "c"})], "content comes after choice 0 was closed"),
    "usage too soon": ([*GOOD[:5], GOOD[6], GOOD[5]], "usage comes before choice 1 was closed by finish"),
    "something after usage": ([*GOOD, chunk(0, {"content": "c"})], "after the stream was ended by usage"),
    "something after an error": ([*GOOD[:2], ERROR, GOOD[2]], "after the stream was ended by error"),
    "another id": (changed(3, id="chatcmpl-2"), "id was 'chatcmpl-1' and is now 'chatcmpl-2'"),
    "another model": (changed(3, model="x"), "model was 'm' and is now 'x'"),
    "an empty event": ([GOOD[0], chunk(0), *GOOD[1:]], "has no known content"),
    "content with finish": (
        [chunk(0, ROLE), chunk(0, {"content": "a"}, finish="stop")],
        "one event states both content and finish of choice 0",
    ),
    "a gap in the indexes": (
        [chunk(0, ROLE), chunk(2, ROLE), chunk(0, finish="stop"), chunk(2, finish="stop")],
        "the values of index of choice are 0, 2, not 0 to 1",
    ),
    "no index": (
        [GOOD[0], chunk([], ROLE), *GOOD[2:3], GOOD[4], chunk([], finish="stop")],
        "the values of index of choice are '[]', 0, not 0 to 1",
    ),
    "another time": (changed(3, created=2), "created was 1 and is now 2"),
    "another object": (changed(3, object="chat.completion"), "object was 'chat.completion.chunk' and is now"),
    "a finish without a role": ([GOOD[4]], "finish comes before choice 0 was opened by role"),
}


@pytest.mark.parametrize(("events", "violation"), BROKEN.values(), ids=BROKEN)
def test_broken_streams(events, violation) -> None:
    violations = judge(events)
    assert any(violation in message for message in violations), violations


@pytest.mark.parametrize("at", [0, 1, 4, 5])
def test_no_event_that_opens_or_closes_can_be_left_out(at) -> None:
    assert judge(GOOD[:at] + GOOD[at + 1 :])


@given(st.permutations(GOOD[:6]))
def test_an_order_is_allowed_exactly_when_each_choice_keeps_its_own(events) -> None:
    kept = all(
        [event for event in events if event["choices"][0]["index"] == index] == GOOD[index:6:2] for index in (0, 1)
    )
    assert (judge(events) == []) is kept


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "index", "delta", "role", "content", "usage", "id"]), inner, max_size=3
        )
    ),
    max_leaves=20,
)
EVENT = st.dictionaries(st.sampled_from(["choices", "usage", "error", "id"]), JSON, max_size=3)


@given(st.lists(EVENT, max_size=5))
def test_whatever_a_server_sends_is_judged(events) -> None:
    for violation in judge(events, terminated=False):
        assert isinstance(violation, str)


def test_a_missing_terminator() -> None:
    assert judge(GOOD, terminated=False) == ["the stream doesn't end with [DONE]"]
