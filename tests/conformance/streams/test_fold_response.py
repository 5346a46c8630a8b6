"""The response object is rebuilt from what was streamed, not copied from the last event."""

import copy

import pytest
from support.response_events import correct, numbered

from specvino.conformance.streams.fold import fold_response

EVENTS = numbered(correct())


def test_it_is_what_the_last_event_has() -> None:
    assert fold_response(EVENTS) == EVENTS[-1]["response"]


def test_nothing_is_changed() -> None:
    before = copy.deepcopy(EVENTS)
    fold_response(EVENTS)
    assert before == EVENTS


def test_what_the_events_around_a_text_say_of_it_counts_for_nothing() -> None:
    events = copy.deepcopy(EVENTS)
    for event in events:
        if event["type"].endswith(".done"):
            event |= {"text": "other", "arguments": "other", "refusal": "other", "part": None}
            event["item"] = {key: event.get("item", {}).get(key) for key in ("status",) if "item" in event}
    events[-1]["response"]["output"] = []
    folded = fold_response(events)["output"]
    assert [folded[1]["content"], folded[2]["arguments"]] == [
        EVENTS[-1]["response"]["output"][1]["content"],
        EVENTS[-1]["response"]["output"][2]["arguments"],
    ]


DELTAS = [at for at, event in enumerate(EVENTS) if event["type"].endswith((".delta", "annotation.added"))]


@pytest.mark.parametrize("at", DELTAS)
def test_every_delta_counts(at) -> None:
    assert fold_response(EVENTS[:at] + EVENTS[at + 1 :])["output"] != EVENTS[-1]["response"]["output"]


def test_settings_are_those_of_the_beginning() -> None:
    events = copy.deepcopy(EVENTS)
    events[-1]["response"]["temperature"] = 1
    assert fold_response(events)["temperature"] == 0.5


def test_the_form_of_the_text_may_be_known_at_the_end() -> None:
    events = copy.deepcopy(EVENTS)
    events[0]["response"]["text"] = None
    events[-1]["response"]["text"] = {"format": {"type": "text"}}
    assert fold_response(events)["text"] == {"format": {"type": "text"}}


def test_no_logprobs_are_null_or_an_empty_list() -> None:
    events = copy.deepcopy(EVENTS)
    for event in events:
        if event["type"] == "response.content_part.added" and "logprobs" in event["part"]:
            event["part"]["logprobs"] = None
    assert fold_response(events) == EVENTS[-1]["response"]


def test_a_member_of_an_item_may_be_known_when_the_item_is_done() -> None:
    events = copy.deepcopy(EVENTS)
    for event in events:
        if event["type"] == "response.output_item.done":
            event["item"] |= {"phase": "final_answer", "odd": 1}
    events[2]["item"]["phase"] = None
    output = fold_response(events)["output"]
    assert [(item["phase"], item["odd"]) for item in output] == [("final_answer", 1)] * len(output)


def test_what_grows_is_not_taken_from_the_end_of_an_item() -> None:
    events = [event for event in copy.deepcopy(EVENTS) if "content_index" not in event]
    for event in events:
        if event["type"] == "response.output_item.added":
            event["item"].pop("content", None)
    assert not any(item.get("content") for item in fold_response(events)["output"])


def test_how_it_ended_is_known_at_the_end() -> None:
    events = copy.deepcopy(EVENTS)
    end = {"status": "incomplete", "completed_at": None, "incomplete_details": {"reason": "max_output_tokens"}}
    events[-1]["response"] |= end
    folded = fold_response(events)
    assert folded == EVENTS[-1]["response"] | end
