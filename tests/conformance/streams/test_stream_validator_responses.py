"""The judge on a stream of response events: one that is correct, and what can be wrong with it."""

import copy
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.response_events import correct, numbered

from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.generated.streams import STREAMS

TABLE = STREAMS["responses"]
GOOD = correct()
ALIVE = {"type": "keepalive"}
ERROR = {"type": "error", "code": "server_error", "message": "x", "param": None}
FAILED = {**GOOD[-1], "type": "response.failed"}


def judge(events):
    validator = StreamValidator(TABLE)
    violations = [violation for event in events for violation in validator.feed(event)]
    return [*violations, *validator.end(terminated=False)]


def event_of(kind, number=0):
    """Where the event of this type stands that is the first, second, … of its type."""
    return [at for at, event in enumerate(GOOD) if event["type"] == f"response.{kind}"][number]


def without(*places):
    return numbered(event for at, event in enumerate(GOOD) if at not in places)


def twice(at):
    return numbered([*GOOD[: at + 1], *GOOD[at:]])


def moved(at, to):
    events = without(at)
    return numbered([*events[:to], GOOD[at], *events[to:]])


def changed(at, path, value):
    events = numbered(GOOD)
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    target = events[at]
    for step in steps:
        target = target[step]
    target[last] = value
    return events


def renamed(at, field, value):
    """Every event of a place's item or part gets another value in a field."""
    events = numbered(GOOD)
    same = [key for key in ("output_index", "content_index", "summary_index") if key in GOOD[at]]
    for event in events:
        if all(event.get(key) == GOOD[at][key] for key in same):
            event[field] = value
    return events


def test_good_streams() -> None:
    assert judge(numbered(GOOD)) == []
    assert judge(numbered([*GOOD[:-1], {**GOOD[-1], "type": "response.incomplete"}])) == []
    assert judge(numbered([GOOD[0], {**GOOD[0], "type": "response.queued"}, *GOOD[1:]])) == []
    for cut in range(1, len(GOOD)):
        assert judge(numbered([*GOOD[:cut], FAILED])) == [], "a failure may cut it anywhere"
        assert judge(numbered([*GOOD[:cut], ERROR])) == []
    assert judge(numbered([ERROR])) == [], "an error may come before anything"
    empty = {**GOOD[-1], "response": GOOD[-1]["response"] | {"output": []}}
    assert judge(numbered([GOOD[0], empty])) == [], "an answer may have no items"


LAST = len(GOOD) - 1
WORLD = {"type": "response.world"}
TEXT, TEXT_DONE = event_of("output_text.delta"), event_of("output_text.done")
ARGUMENTS, ARGUMENTS_DONE = event_of("function_call_arguments.delta"), event_of("function_call_arguments.done")
ITEM, ITEM_DONE = event_of("output_item.added", 1), event_of("output_item.done", 1)
PART, PART_DONE = event_of("content_part.added", 1), event_of("content_part.done", 1)
REFUSAL_PART = event_of("content_part.added", 2)
SUMMARY, SUMMARY_DONE = event_of("reasoning_summary_part.added"), event_of("reasoning_summary_part.done")

BROKEN = {
    "nothing": ([], "the stream has no events"),
    "not created": (without(0), "response.in_progress comes before the response was opened by response.created"),
    "failed before created": (numbered([FAILED]), "response.failed comes before the response was opened by"),
    "created twice": (twice(0), "the response is opened by response.created a second time"),
    "created late": (moved(0, 1), "response.in_progress comes before the response was opened by response.created"),
    "no end": (without(LAST), "the response was never ended by response.completed or response.incomplete"),
    "two ends": (twice(LAST), "response.completed comes after the response was ended by response.completed"),
    "ended both ways": (
        numbered([*GOOD, {**GOOD[-1], "type": "response.incomplete"}]),
        "response.incomplete comes after the response was ended by response.completed",
    ),
    "a delta after the end": (moved(TEXT, LAST), "output_text.delta of 1.0 comes after the response was ended"),
    "something after an error": (numbered([GOOD[0], ERROR, GOOD[1]]), "in_progress comes after the response was ended"),
    "an error after the end": (numbered([*GOOD, ERROR]), "error comes after the response was ended"),
    "no type": (numbered([GOOD[0], {}, *GOOD[1:]]), "an event has no known content"),
    "a sign of life before the start": (numbered([ALIVE, *GOOD]), "keepalive comes before the response was opened"),
    "a sign of life after the end": (numbered([*GOOD, ALIVE]), "keepalive comes after the response was ended by"),
    "a sign of life without its number": ([*numbered(GOOD[:2]), ALIVE, *numbered(GOOD)[2:]], "is 2, not 3"),
    "an unknown event that takes a number": ([*numbered([*GOOD[:2], WORLD]), *numbered(GOOD)[2:]], "is 2, not 3"),
    "item not added": (without(ITEM), "content_part.added comes before item 1 was opened by response.output_item.add"),
    "item added twice": (twice(ITEM), "item 1 is opened by response.output_item.added a second time"),
    "item not done": (without(ITEM_DONE), "response.completed comes before item 1 was closed by"),
    "item done twice": (twice(ITEM_DONE), "output_item.done comes after item 1 was closed by"),
    "an item never closed": (numbered(GOOD[:ITEM_DONE]), "item 1 was never closed by response.output_item.done"),
    "part not added": (without(PART), "output_text.delta comes before part 1.0 was opened by response.content_part.ad"),
    "part added twice": (twice(PART), "part 1.0 is opened by response.content_part.added a second time"),
    "part not done": (without(PART_DONE), "output_item.done comes before part 1.0 was closed by response.content_part"),
    "part done twice": (twice(PART_DONE), "content_part.done comes after part 1.0 was closed by"),
    "part after its item": (moved(PART_DONE, ITEM_DONE), "content_part.done comes after item 1 was closed by"),
    "part before its item": (moved(PART, ITEM), "content_part.added comes before item 1 was opened by"),
    "delta after its part": (moved(TEXT, PART_DONE), "output_text.delta comes after part 1.0 was closed by"),
    "summary not added": (
        without(SUMMARY),
        "comes before summary 0.0 was opened by response.reasoning_summary_part.ad",
    ),
    "summary not done": (without(SUMMARY_DONE), "output_item.done comes before summary 0.0 was closed by"),
    "arguments of no item": (changed(ARGUMENTS, "output_index", 7), "comes before item 7 was opened"),
    "a gap in the items": (
        renamed(ITEM, "output_index", 7),
        "the values of output_index of item are 0, 2, 7, not 0 to 2",
    ),
    "a gap in the parts": (
        renamed(REFUSAL_PART, "content_index", 3),
        "the values of content_index of part in 1 are 0, 3, not 0 to 1",
    ),
    "a gap in the summaries": (
        renamed(SUMMARY, "summary_index", 1),
        "the values of summary_index of summary in 0 are 1, not 0 to 0",
    ),
    "no content_index": (changed(PART, "content_index", None), "of part in 1 are 'None', 0, 1, not 0 to 2"),
    "a number left out": (changed(TEXT, "sequence_number", 90), f"sequence_number is 90, not {TEXT}"),
    "a number twice": (changed(TEXT, "sequence_number", TEXT - 1), f"sequence_number is {TEXT - 1}, not {TEXT}"),
    "numbers from 1": (numbered([GOOD[0], *GOOD])[1:], "sequence_number is 1, not 0"),
    "a number as text": (changed(TEXT, "sequence_number", "16"), f"sequence_number is '16', not {TEXT}"),
    "another id": (changed(LAST, "response.id", "resp_2"), "response.id was 'resp_1' and is now 'resp_2'"),
    "another model": (changed(1, "response.model", "n"), "response.model was 'm' and is now 'n'"),
    "another time": (changed(LAST, "response.created_at", 6), "response.created_at was 5 and is now 6"),
    "another item_id": (changed(TEXT, "item_id", "msg_2"), "item_id of item 1 was 'msg_1' and is now 'msg_2'"),
    "another item.id": (changed(ITEM_DONE, "item.id", "msg_2"), "item.id of item 1 was 'msg_1' and is now 'msg_2'"),
    "one id for two items": (changed(ITEM, "item.id", "rs_1"), "item 1 has the id of item 0, 'rs_1'"),
    "a delta lost": (
        without(TEXT),
        "text of response.output_text.done of 1.0 is 'Hello', but the deltas join to 'llo'",
    ),
    "another text": (changed(TEXT_DONE, "text", "Hallo"), "is 'Hallo', but the deltas join to 'Hello'"),
    "no text": (changed(TEXT_DONE, "text", None), "text of response.output_text.done of 1.0 is None, but"),
    "text not done": (without(TEXT_DONE), "content_part.done of 1.0 comes before response.output_text.done"),
    "text done twice": (twice(TEXT_DONE), "output_text.done of 1.0 comes after response.output_text.done"),
    "text done early": (moved(TEXT_DONE, TEXT + 1), "output_text.delta of 1.0 comes after response.output_text.done"),
    "another text in the part": (
        changed(PART_DONE, "part.text", "Hell"),
        "part.text of response.content_part.done of 1.0 is 'Hell', but the deltas join to 'Hello'",
    ),
    "arguments without a delta": (
        without(ARGUMENTS, event_of("function_call_arguments.delta", 1), ARGUMENTS_DONE),
        "item.arguments of response.output_item.done of 2 is '{\"a\": 1}', but the deltas join to ''",
    ),
    "arguments not done": (without(ARGUMENTS_DONE), "of 2 comes before response.function_call_arguments.done"),
    "a part lost": (
        changed(ITEM_DONE, "item.content", []),
        "item.content of response.output_item.done holds 0, but the stream has closed 2 parts",
    ),
    "another part": (
        changed(ITEM_DONE, "item.content.1", {"type": "refusal", "refusal": "Nope!"}),
        "item.content.1 of response.output_item.done is not the part of part 1.1: refusal differs",
    ),
    "another summary": (
        changed(event_of("output_item.done"), "item.summary.0", {}),
        "item.summary.0 of response.output_item.done is not the part of summary 0.0",
    ),
    "no list of parts": (changed(ITEM_DONE, "item.content", "Hello"), "is 'Hello', not a list"),
    "an item lost": (
        changed(LAST, "response.output", GOOD[-1]["response"]["output"][:2]),
        "response.output of response.completed holds 2, but the stream has closed 3 items",
    ),
    "items in another order": (
        changed(LAST, "response.output", GOOD[-1]["response"]["output"][::-1]),
        "response.output.0 of response.completed is not the item of item 0",
    ),
    "another status in the end": (
        changed(LAST, "response.output.1.status", "incomplete"),
        "response.output.1 of response.completed is not the item of item 1: status differs",
    ),
}


def sealed(done, whole):
    """The first item has this encrypted content when it is done, and in the whole response."""
    events = numbered(GOOD)
    events[event_of("output_item.done", 0)]["item"]["encrypted_content"] = done
    events[LAST]["response"]["output"][0]["encrypted_content"] = whole
    return events


def test_encrypted_content_may_differ_in_each_event() -> None:
    assert judge(sealed("one", "other")) == []


def test_encrypted_content_must_not_be_lost() -> None:
    assert judge(sealed("one", None)) == [
        "response.output.0 of response.completed is not the item of item 0: encrypted_content differs"
    ]


@pytest.mark.parametrize("other", [WORLD, ALIVE], ids=["unknown", "keepalive"])
def test_other_events_may_come_in_between(other) -> None:
    for at in range(1, len(GOOD)):
        assert judge(numbered([*GOOD[:at], other, *GOOD[at:]])) == []


def test_unknown_events_may_come_anywhere_without_a_number() -> None:
    assert judge([WORLD, *numbered(GOOD), WORLD]) == []


@pytest.mark.parametrize(("events", "violation"), BROKEN.values(), ids=BROKEN)
def test_broken_streams(events, violation) -> None:
    violations = judge(events)
    assert any(violation in message for message in violations), violations


# What may be left out, doubled and put elsewhere, as long as what it is about is open.
FREE = {"response.in_progress", "response.output_text.annotation.added"}
PLACES = st.integers(0, LAST)


@given(PLACES)
def test_a_lost_event_is_noticed(at) -> None:
    assert bool(judge(without(at))) is (GOOD[at]["type"] not in FREE)


@given(PLACES, PLACES)
def test_a_doubled_event_is_noticed(at, to) -> None:
    events = [*GOOD[:to], GOOD[at], *GOOD[to:]]
    assert bool(judge(numbered(events))) is (
        GOOD[at]["type"] not in FREE or not in_order([*range(to), at, *range(to, LAST + 1)])
    )


@given(st.lists(st.tuples(PLACES, PLACES), min_size=1, max_size=3))
def test_an_order_is_allowed_exactly_when_it_keeps_what_belongs_together(swaps) -> None:
    order = list(range(len(GOOD)))
    for a, b in swaps:
        order[a], order[b] = order[b], order[a]
    assert (judge(numbered(GOOD[at] for at in order)) == []) is in_order(order)


def in_order(order):
    """Whether each two events stand as in GOOD of which one must come before the other."""
    return all(a <= b or not _must_precede(b, a) for a, b in itertools.combinations(order, 2))


def _must_precede(first, second):
    one, other = _instance(GOOD[first]), _instance(GOOD[second])
    if one == other:
        free = {GOOD[first]["type"], GOOD[second]["type"]} & FREE
        return not free or _bounds(GOOD[first]) or _bounds(GOOD[second])
    return (_within(one, other) and _bounds(GOOD[second])) or (_within(other, one) and _bounds(GOOD[first]))


def _instance(event):
    """The item, part or summary that an event is about, as a path through those around it."""
    return tuple((key, event[key]) for key in ("output_index", "content_index", "summary_index") if key in event)


def _within(inner, outer):
    return inner[: len(outer)] == outer


def _bounds(event):
    return event["type"].endswith(("created", "completed", "item.added", "item.done", "part.added", "part.done"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["id", "output", "text", "content", "arguments"]), inner, max_size=3)
    ),
    max_leaves=8,
)
TYPES = sorted({event["type"] for event in GOOD} | {"error", "response.failed"})
FIELDS = ["sequence_number", "output_index", "content_index", "summary_index", "item_id", "item", "part", "response"]
EVENT = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.sampled_from(TYPES) | JSON,
    st.dictionaries(st.sampled_from([*FIELDS, "delta", "text"]), JSON, max_size=5),
)


@given(st.lists(EVENT, max_size=8))
def test_whatever_a_server_sends_is_judged(events) -> None:
    for violation in judge(events):
        assert isinstance(violation, str)


@given(PLACES, st.sampled_from([*FIELDS, "type", "delta", "text", "arguments"]), JSON)
def test_a_spoilt_field_never_stops_the_judge(at, field, value) -> None:
    events = numbered(copy.deepcopy(GOOD))
    events[at][field] = value
    assert all(isinstance(violation, str) for violation in judge(events))
