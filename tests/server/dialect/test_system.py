"""Streams are counted and ended as the system's are."""

from specvino.generated.handlers import OPERATIONS
from specvino.server.dialect import System
from specvino.server.dialect.shapes import ABSENT

CREATE, RETRIEVE = "create_response", "retrieve_response"
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "queued",
    "model": "m",
    "output": [],
    "error": None,
}


def numbers(system, operation, kinds, start=0):
    event = system.event(operation)
    events = [
        event({"type": f"response.{kind}", "sequence_number": number, "response": RESPONSE})
        for number, kind in enumerate(kinds, start)
    ]
    return [event["sequence_number"] for event in events if event is not ABSENT]


BACKGROUND = ("created", "queued", "in_progress", "completed")


def test_an_event_that_the_system_lacks_leaves_no_gap() -> None:
    assert numbers(System("vllm", ("m",), {}), CREATE, BACKGROUND) == [0, 1, 2]
    assert numbers(System("openai", ("m",), {}), CREATE, BACKGROUND) == [0, 1, 2, 3]


def test_a_stream_goes_on_behind_the_event_that_was_asked_for() -> None:
    system = System("vllm", ("m",), {})
    assert system.arguments(RETRIEVE, {"stream": True, "starting_after": 1})["starting_after"] == 2
    assert numbers(system, RETRIEVE, BACKGROUND[3:], start=3) == [2]
    assert system.arguments(RETRIEVE, {"starting_after": 0})["starting_after"] == 0
    assert numbers(system, RETRIEVE, BACKGROUND[1:], start=1) == [1, 2]


def test_events_are_counted_from_where_the_system_does() -> None:
    assert numbers(System("ovms", ("m",), {}), CREATE, ("created", "in_progress")) == [1, 2]


def test_a_cut_answer_is_completed_where_the_system_has_no_other_end() -> None:
    event = System("llama-cpp", ("m",), {}).event(CREATE)
    assert (
        event({"type": "response.incomplete", "sequence_number": 5, "response": RESPONSE})["type"]
        == "response.completed"
    )


def test_streams_end_as_the_system_s() -> None:
    def ended(name):
        operation = System(name, ("m",), {}).streaming(OPERATIONS[CREATE])
        return operation.framing, operation.terminator

    assert ended("ovms") == ("data", "[DONE]")
    assert ended("openai") == ("event", None)


def test_a_system_has_the_operations_of_its_document() -> None:
    assert System("ovms", ("m",), {}).base_paths == ("/v3", "/v1", "/v3/v1")
    assert not System("mlc-llm", ("m",), {}).has(CREATE)
    assert System("vllm", ("m",), {}).at_root("tokenize")
    assert System("openai", ("m",), {}).port is None
    assert System("sglang", ("m",), {}).port == 30000


def test_a_system_s_open_operations_need_no_key() -> None:
    assert System("ovms", ("m",), {}).is_open("list_models")
    assert not System("ovms", ("m",), {}).is_open(CREATE)
    assert not System("openai", ("m",), {}).is_open("list_models")
    assert System("vllm", ("m",), {}).is_open("get_version")
    assert not System("vllm", ("m",), {}).is_open("tokenize")
