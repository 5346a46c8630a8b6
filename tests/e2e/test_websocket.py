"""Responses over a WebSocket, on the tiny trained model and on the scripted engine."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import openai
import pytest
from support.serving_here import ServerHere, serving_here
from support.streams import judged
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from specvino.server.sockets import UNANSWERED
from specvino.server.validation.schema import SchemaCheck

EVENT = SchemaCheck.of_component("ResponseStreamEvent")
FIELDS = SchemaCheck.of_component("ResponseWebSocketFields")
ERROR = SchemaCheck.of_component("ResponseWebSocketError")
LAST = ("response.completed", "response.incomplete", "response.failed", "error")
PATIENCE = 300

Event = dict[str, Any]


@contextmanager
def socket(server: ServerHere, path: str = "/responses", **headers: str) -> Iterator[ClientConnection]:
    url = server.url.replace("http", "ws", 1) + path
    with connect(url, additional_headers=headers, max_size=None) as connection:
        yield connection


@pytest.fixture
def ws(tiny_server) -> Iterator[ClientConnection]:
    with socket(tiny_server) as connection:
        yield connection


@pytest.fixture(scope="module")
def scripted() -> Iterator[ServerHere]:
    with serving_here("--engine", "scripted", "--max-body", "20000") as server:
        yield server


def send(ws: ClientConnection, **fields: Any) -> None:
    ws.send(json.dumps({"type": "response.create", "model": "tiny", "temperature": 0, "store": False, **fields}))


def events(ws: ClientConnection) -> list[Event]:
    """The events up to the end of a response, or an error."""
    received: list[Event] = []
    while not received or received[-1]["type"] not in LAST:
        received.append(json.loads(ws.recv(timeout=PATIENCE)))
        (ERROR if received[-1]["type"] == "error" else EVENT).require(received[-1])
        FIELDS.require(received[-1])
    return received


def turn(ws: ClientConnection, **fields: Any) -> list[Event]:
    send(ws, **fields)
    return events(ws)


def response(ws: ClientConnection, **fields: Any) -> Any:
    *_, last = turn(ws, **fields)
    assert last["type"] in ("response.completed", "response.incomplete"), last
    return last["response"]


def text(response: Any) -> str:
    return "".join(part["text"] for item in response["output"] for part in item["content"])


def error(ws: ClientConnection, **fields: Any) -> tuple[int, str, str | None]:
    (event,) = turn(ws, **fields)
    assert event["type"] == "error", event
    return event["status"], event["error"]["code"], event["error"]["param"]


def comparable(events: list[Event]) -> str:
    """Without what differs from one response to another: ids and times."""

    def masked(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: masked(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            return [masked(element) for element in value]
        return "" if name in ("id", "item_id", "call_id", "created_at", "completed_at") else value

    return json.dumps(masked(events))


@pytest.mark.parametrize("input", ["capital", "think", "weather Rome"])
def test_the_events_are_those_of_the_stream(ws, tiny_server, input) -> None:
    tools = [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}]
    fields = {"input": input, "tools": tools, "max_output_tokens": 200}
    body = {"model": "tiny", "temperature": 0, "store": False, "stream": True, **fields}
    streamed = judged("responses", httpx.post(f"{tiny_server.url}/responses", json=body, timeout=PATIENCE))
    assert comparable(turn(ws, **fields)) == comparable(streamed)


def test_a_response_that_is_not_stored_is_continued_on_its_connection(ws, tiny_server) -> None:
    first = response(ws, input="hello")
    again = response(ws, input="capital", previous_response_id=first["id"])
    assert again["previous_response_id"] == first["id"]
    alone = response(ws, input="capital")
    assert again["usage"]["input_tokens"] > alone["usage"]["input_tokens"]
    third = response(ws, input="count", previous_response_id=again["id"], max_output_tokens=8)
    assert third["usage"]["input_tokens"] > again["usage"]["input_tokens"]
    missing = (404, "previous_response_not_found", "previous_response_id")
    with socket(tiny_server) as other:
        assert error(other, input="capital", previous_response_id=first["id"]) == missing
        assert text(response(other, input="capital")) == text(alone)


def test_a_stored_response_is_continued_everywhere(ws, tiny_server) -> None:
    stored = response(ws, input="hello", store=True)
    with socket(tiny_server) as other:
        continued = response(other, input="capital", previous_response_id=stored["id"])
    body = {"model": "tiny", "input": "capital", "previous_response_id": stored["id"], "temperature": 0}
    by_http = httpx.post(f"{tiny_server.url}/responses", json=body, timeout=PATIENCE).json()
    assert by_http["usage"] == continued["usage"]


def test_a_failed_request_ends_the_conversation_that_it_continues(ws) -> None:
    first = response(ws, input="hello")
    unmatched = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
    fields = {"input": [unmatched], "previous_response_id": first["id"]}
    assert error(ws, **fields) == (400, "invalid_value", "input.0.call_id")
    assert error(ws, input="capital", previous_response_id=first["id"])[1] == "previous_response_not_found"
    assert response(ws, input="capital")["status"] == "completed"


def test_a_tool_loop(ws) -> None:
    tool = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}}}
    called = response(ws, input="weather Rome", tools=[tool], tool_choice="required", max_output_tokens=200)
    (call,) = [item for item in called["output"] if item["type"] == "function_call"]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "sunny"}
    answered = response(ws, input=[output], tools=[tool], previous_response_id=called["id"], max_output_tokens=64)
    assert answered["usage"]["input_tokens"] > called["usage"]["input_tokens"]
    unanswered = error(ws, input="and?", tools=[tool], previous_response_id=called["id"])
    assert unanswered == (400, "invalid_value", "previous_response_id")


def test_without_generating(ws) -> None:
    warm = response(ws, input="hello", generate=False)
    assert (warm["status"], warm["output"], warm["usage"]["output_tokens"]) == ("completed", [], 0)
    assert warm["usage"]["input_tokens"] > 0
    continued = response(ws, input="capital", previous_response_id=warm["id"])
    together = response(ws, input=[{"role": "user", "content": text} for text in ("hello", "capital")])
    assert continued["usage"] == together["usage"]


def test_before_the_first_input(ws) -> None:
    """As Codex prepares a session: tools and instructions without an input."""
    warm = response(ws, input=[], instructions="Be brief.", generate=False)
    assert (warm["output"], warm["usage"]["total_tokens"]) == ([], 0)
    continued = response(ws, input="capital", instructions="Be brief.", previous_response_id=warm["id"])
    assert continued["usage"] == response(ws, input="capital", instructions="Be brief.")["usage"]


def test_lanes_are_answered_at_the_same_time(ws) -> None:
    send(ws, input="count", stream_id="long", min_tokens=300, ignore_eos=True, max_output_tokens=300)
    assert json.loads(ws.recv(timeout=PATIENCE))["stream_id"] == "long"
    send(ws, input="capital", stream_id="short", max_output_tokens=4)
    ends: list[str] = []
    while len(ends) < 2:
        event = json.loads(ws.recv(timeout=PATIENCE))
        if event["type"] in LAST:
            ends.append(event["stream_id"])
    assert ends == ["short", "long"]


def test_a_lane_is_answered_in_order_whatever_the_client_sends(ws) -> None:
    """More than the server takes at a time, without reading any answer."""
    inputs = [f"capital {number}" for number in range(2 * UNANSWERED)]
    for input in inputs:
        send(ws, input=input, metadata={"input": input}, max_output_tokens=1)
    answered = [events(ws) for _ in inputs]
    assert [events[-1]["response"]["metadata"]["input"] for events in answered] == inputs
    assert {event["response"]["id"] for event in (received[0] for received in answered)} == {
        received[-1]["response"]["id"] for received in answered
    }


def test_an_error_waits_for_the_answers_before_it(ws) -> None:
    send(ws, input="count", max_output_tokens=100)
    ws.send("rubbish")
    send(ws, input="capital", max_output_tokens=40)
    assert [events(ws)[-1]["type"] for _ in range(3)] == ["response.completed", "error", "response.completed"]


def test_a_large_message_is_not_overtaken(ws) -> None:
    send(ws, input="the " * 200_000)
    send(ws, input="capital")
    (refused,) = events(ws)
    assert refused["error"]["code"] == "context_length_exceeded"
    assert events(ws)[-1]["type"] == "response.completed"


NO_RESPONSES: list[tuple[str | bytes, str, str | None]] = [
    ("rubbish", "invalid_json", None),
    ("", "missing_body", None),
    (b"\xff\xfe", "invalid_json", None),
    ("[]", "invalid_type", None),
    ("{}", "missing_required_parameter", "type"),
    ('{"type": "x", "stream_id": [1]}', "invalid_value", "type"),
    ('{"type": "x", "stream_id": ""}', "invalid_value", "type"),
    ('{"type": "session.update"}', "invalid_value", "type"),
    ('{"type": "response.create"}', "missing_required_parameter", "model"),
    ('{"type": "response.create", "model": "tiny", "input": 7}', "invalid_type", "input"),
    ('{"type": "response.create", "model": "other", "input": "hi"}', "model_not_found", "model"),
    ('{"type": "response.create", "model": "scripted", "input": "hi", "stream": false}', "invalid_value", "stream"),
    (
        '{"type": "response.create", "model": "scripted", "input": "hi", "background": true}',
        "invalid_value",
        "background",
    ),
    (
        '{"type": "response.create", "model": "scripted", "input": "hi", "stream_id": ""}',
        "string_below_min_length",
        "stream_id",
    ),
    (f'{{"type": "response.create", "model": "scripted", "input": "{"a" * 20_000}"}}', "request_too_large", None),
    ("[" * 1_000, "invalid_json", None),
    (
        f'{{"type": "response.create", "model": "scripted", "input": "hi", "seed": {10**30}}}',
        "integer_above_max_value",
        "seed",
    ),
]


def test_rubbish_is_an_error_event_and_the_connection_stays_open(scripted) -> None:
    with socket(scripted) as ws:
        for message, code, param in NO_RESPONSES:
            ws.send(message)
            (event,) = events(ws)
            assert (event["error"]["code"], event["error"]["param"]) == (code, param), message
        assert text(response(ws, model="scripted", input="capital")) == "capital"


def test_fields_without_effect_are_named(scripted) -> None:
    with socket(scripted) as ws:
        created, *_ = turn(ws, model="scripted", input="capital", tools=[{"type": "web_search"}])
        assert created["headers"] == {"x-unsupported-params": "tools.0.type"}
        created, *_ = turn(ws, model="scripted", input="capital")
        assert "headers" not in created


def refused(server: ServerHere, path: str = "/responses", **headers: str) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as refusal, socket(server, path, **headers):
        pass
    answer = refusal.value.response
    assert answer.headers["x-request-id"]
    return answer.status_code, json.loads(answer.body)["error"]["code"]


def test_a_key_is_checked_before_the_connection_opens() -> None:
    with serving_here("--engine", "scripted", env={"SPECVINO_API_KEY": "sk-right"}) as server:
        assert refused(server) == (401, "invalid_api_key")
        assert refused(server, Authorization="Bearer sk-wrong") == (401, "invalid_api_key")
        with socket(server, Authorization="Bearer sk-right") as ws:
            assert text(response(ws, model="scripted", input="capital")) == "capital"


def test_web_pages_of_others_do_not_connect(scripted) -> None:
    host, port = scripted.address
    assert refused(scripted, Origin="https://example.com") == (403, "origin_not_allowed")
    with socket(scripted, Origin=f"http://{host}:{port}") as ws:
        assert response(ws, model="scripted", input="capital")["status"] == "completed"
    with serving_here("--engine", "scripted", "--allowed-origins", "https://example.com") as server:
        with socket(server, Origin="https://example.com") as ws:
            assert response(ws, model="scripted", input="capital")["status"] == "completed"
        assert refused(server, Origin="https://example.org") == (403, "origin_not_allowed")


def test_other_paths_have_none(scripted) -> None:
    assert refused(scripted, "/chat/completions") == (404, "not_found")
    assert refused(scripted, "/nothing") == (404, "not_found")


@pytest.mark.parametrize(("dialect", "serves"), [("openai", True), ("vllm", False)])
def test_as_another_system(dialect, serves) -> None:
    with serving_here("--engine", "scripted", "--dialect", dialect, "--insecure") as server:
        if not serves:
            assert refused(server) == (404, "not_found")
            return
        with socket(server) as ws:
            send(ws, model="scripted", input="capital")
            received: list[Event] = []
            while not received or received[-1]["type"] not in LAST:
                received.append(json.loads(ws.recv(timeout=PATIENCE)))
            assert received[-1]["type"] == "response.completed"


def test_a_client_that_leaves(tiny_server) -> None:
    """What it began ends as cancelled, if it is stored."""
    with socket(tiny_server) as ws:
        send(ws, input="count", store=True, min_tokens=3000, ignore_eos=True, max_output_tokens=3000)
        created = json.loads(ws.recv(timeout=PATIENCE))
    with httpx.Client(base_url=tiny_server.url, timeout=PATIENCE) as client:
        while (answer := client.get(f"/responses/{created['response']['id']}")).status_code == 404:
            pass
    assert answer.json()["status"] == "cancelled"
    assert "Traceback" not in "".join(tiny_server.lines)


def test_a_server_that_ends() -> None:
    with ExitStack() as stack:
        with serving_here("--engine", "scripted") as server:
            waiting = stack.enter_context(socket(server))
            assert response(waiting, model="scripted", input="capital")["status"] == "completed"
        with pytest.raises(ConnectionClosed) as closed:
            waiting.recv(timeout=PATIENCE)
    assert closed.value.rcvd
    assert closed.value.rcvd.code == 1012


@pytest.mark.filterwarnings("ignore:connect.. must be used as a context manager:DeprecationWarning")  # openai 3.54.0's
def test_the_official_sdk(tiny_server) -> None:
    client: Any = openai.OpenAI(base_url=tiny_server.url, api_key="none")
    with client.responses.connect() as connection:
        connection.response.create(model="tiny", input="capital", store=False, temperature=0)
        for event in connection:
            if event.type == "response.completed":
                break
        assert event.response.output_text == "The capital of France is Paris."
        connection.response.create(model="tiny", input="hello", previous_response_id="resp_1")
        failed = connection.recv()
        assert (failed.type, failed.error.code) == ("error", "previous_response_not_found")


def test_the_official_sdk_asynchronously(tiny_server) -> None:
    client: Any = openai.AsyncOpenAI(base_url=tiny_server.url, api_key="none")

    async def answer() -> Any:
        async with client, client.responses.connect() as connection:
            await connection.response.create(model="tiny", input="capital", store=False, temperature=0)
            async for event in connection:
                if event.type == "response.completed":
                    return event.response.output_text
        raise AssertionError

    assert asyncio.run(answer()) == "The capital of France is Paris."
