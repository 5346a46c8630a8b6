"""Events obey the document's stream table, and the last one holds what an independent fold makes of the others."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.segments import answers, one_by_one

from specvino.conformance.streams.fold import fold_response
from specvino.conformance.streams.stream_validator import StreamValidator
from specvino.engine.segments import (
    Finish,
    Started,
    TextDelta,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated.errors import ErrorCode
from specvino.generated.models import CreateResponseRequest
from specvino.generated.streams import STREAMS
from specvino.handlers.errors import ApiError
from specvino.handlers.responses.emit import ResponseEmitter, fold
from specvino.handlers.sampling import sampling
from specvino.handlers.tools import OfferedTool, ToolCalling
from specvino.server.validation.schema import SchemaCheck

BODY = CreateResponseRequest.model_validate({"model": "m", "input": "hi", "n": 3})
ANSWERS = answers(st.integers(1, 3), calls=True).map(lambda answer: answer[1])

EVENT, UNARY = SchemaCheck.of_component("ResponseStreamEvent"), SchemaCheck.of_component("ResponseObject")


class AllOfOneKind(ToolCalling):
    """A request whose tools are all of this kind."""

    def called(self, function_name):
        return OfferedTool("tools.0", function_name, kind=self.offered[0].kind, namespace="n")


KINDS = st.sampled_from([None, "function", "custom"])


def emitter(kind=None):
    tools = AllOfOneKind(offered=(OfferedTool("tools.0", "t", kind=kind),)) if kind else None
    return ResponseEmitter(BODY, sampling(BODY, {}), tools=tools)


def emit(segments, kind=None):
    maker = emitter(kind)
    return [event for segment in segments for event in maker.feed(segment)]


def violations(events):
    judge = StreamValidator(STREAMS["responses"])
    return [*(violation for event in events for violation in judge.feed(event)), *judge.end(terminated=False)]


@given(ANSWERS, KINDS)
def test_events_obey_the_stream_table(segments, kind) -> None:
    assert violations(emit(segments, kind)) == []


@given(ANSWERS, KINDS)
def test_every_event_and_the_fold_fit_the_document(segments, kind) -> None:
    events = emit(segments, kind)
    for event in events:
        EVENT.require(event)
    UNARY.require(asyncio.run(fold(one_by_one(events))))


@given(ANSWERS, KINDS)
def test_the_fold_is_what_an_independent_one_makes(segments, kind) -> None:
    events = emit(segments, kind)
    assert asyncio.run(fold(one_by_one(events))) == fold_response(events)


def test_a_text_is_streamed_in_the_order_that_openai_has() -> None:
    events = emit([Started(3), TextDelta(0, "a"), TextDelta(0, "b"), Finish(0, "stop"), Usage(3, 2)])
    assert [event["type"] for event in events] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    response = events[-1]["response"]
    assert response["status"] == response["output"][0]["status"] == "completed"
    assert response["output"][0]["content"][0]["text"] == "ab"
    assert response["completed_at"] >= response["created_at"]
    assert response["usage"]["total_tokens"] == 5


def test_a_cut_text_is_incomplete() -> None:
    events = emit([Started(3), TextDelta(0, "a"), Finish(0, "length"), Usage(3, 1)])
    assert events[-1]["type"] == "response.incomplete"
    response = events[-1]["response"]
    assert (response["status"], response["completed_at"]) == ("incomplete", None)
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}
    assert response["output"][0]["status"] == "incomplete"


def test_no_text_is_an_empty_message() -> None:
    events = emit([Started(3), Finish(0, "stop"), Usage(3, 1)])
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == ""


def test_several_outputs_stand_one_behind_the_other() -> None:
    others = [TextDelta(1, "c"), TextDelta(0, "a"), Finish(1, "length"), Finish(2, "stop")]
    segments = [Started(3), *others, TextDelta(0, "b"), Finish(0, "stop"), Usage(3, 4)]
    response = emit(segments)[-1]["response"]
    messages = [(item["content"][0]["text"], item["status"]) for item in response["output"]]
    assert messages == [("ab", "completed"), ("c", "incomplete"), ("", "completed")]
    assert response["status"] == "incomplete"


def test_the_first_of_several_outputs_is_shown_as_it_comes() -> None:
    maker = emitter()
    shown = [len(list(maker.feed(segment))) for segment in (Started(3), TextDelta(1, "b"), TextDelta(0, "a"))]
    assert shown == [2, 0, 3]


@pytest.mark.parametrize("texts", [[], ["a"]])
def test_a_failure_ends_the_stream(texts) -> None:
    maker = emitter()
    segments = [Started(3), *(TextDelta(0, text) for text in texts)]
    events = [event for segment in segments for event in maker.feed(segment)]
    events.append(maker.fail(ApiError(ErrorCode.ENGINE_RESTARTED, "lost")))
    assert violations(events) == []
    EVENT.require(events[-1])
    failed = events[-1]["response"]
    assert (failed["status"], failed["error"]) == ("failed", {"code": "server_error", "message": "lost"})


def test_an_error_that_no_response_carries_is_an_event_too() -> None:
    event = ApiError(ErrorCode.INTERNAL_ERROR, "oops").event(0)
    EVENT.require(event)
    assert violations([event]) == []


def test_ids_differ() -> None:
    responses = [emit([Started(1), Finish(0, "stop"), Usage(1, 1)])[-1]["response"] for _ in range(3)]
    assert len({response["id"] for response in responses}) == 3
    assert len({response["output"][0]["id"] for response in responses}) == 3


@pytest.mark.parametrize(("complete", "arguments"), [(True, {"q": "x"}), (False, {})])
def test_a_search_for_tools_has_an_object_as_arguments(complete, arguments) -> None:
    called = [ToolCallStart(0, 0, "t"), ToolCallArguments(0, 0, '{"q": "x"}'), ToolCallEnd(0, 0, complete)]
    events = emit([Started(1), *called, Finish(0, "tool_calls"), Usage(1, 2)], "tool_search")
    assert violations(events) == []
    for event in events:
        EVENT.require(event)
    (item,) = events[-1]["response"]["output"]
    assert (item["type"], item["execution"], item["arguments"]) == ("tool_search_call", "client", arguments)
    assert [event["type"] for event in events[2:-1]] == ["response.output_item.added", "response.output_item.done"]
