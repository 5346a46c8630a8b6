"""WebSockets over real connections, to servers with faults that the reference server can't have."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

import pytest
from support.stream_server import stream_server
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Response

from specvino.conformance.http import socket as module
from specvino.conformance.http.client import Client, Target
from specvino.conformance.http.exchange import MESSAGE, Exchange, Request
from specvino.conformance.http.socket import open_socket

ENDS = ("end", "error")


def message(content: bytes = b"{}", **body: Any) -> Request:
    return Request(None, MESSAGE, "/responses", {}, content, body)


def answered(
    handler: Callable[[ServerConnection], Awaitable[None]], *requests: Request, timeout: float = 60.0, **how: Any
) -> tuple[Exchange, list[Exchange]]:
    """The exchanges of a handshake and of messages that are sent to a server at once."""

    async def run() -> tuple[Exchange, list[Exchange]]:
        async with serve(handler, "127.0.0.1", 0, close_timeout=0.1, **how) as server:
            host, port = next(iter(server.sockets)).getsockname()
            target = Target(f"http://{host}:{port}/v1", "sk-1", timeout=timeout, extra={"x-gateway": "1"})
            async with Client(target) as client:
                handshake, socket = await open_socket(client, Request(None, "GET", "/responses", {}, None), ENDS)
                if socket is None:
                    return handshake, []
                exchanges = await socket.send(requests)
                await socket.close()
                assert client.sent >= 1 + len(requests)
                return handshake, exchanges

    return asyncio.run(run())


def saying(*messages: Any) -> Callable[[ServerConnection], Awaitable[None]]:
    """A server that answers the first message with these, each a JSON value or what is sent as it is."""

    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        for message in messages:
            await connection.send(message if isinstance(message, str | bytes) else json.dumps(message))
        await connection.wait_closed()

    return handler


def test_an_answer_ends_with_its_last_event() -> None:
    handshake, (exchange,) = answered(saying({"type": "a"}, {"type": "end"}, {"type": "late"}), message())
    assert (handshake.status, handshake.request.headers["x-gateway"]) == (101, "1")
    assert handshake.request.headers["upgrade"] == "websocket"
    assert (exchange.status, exchange.ended, exchange.number) == (200, "complete", 2)
    assert exchange.chunks == ({"type": "a"}, {"type": "end"})
    assert exchange.content == b'{"type": "a"}\n{"type": "end"}'
    assert len(exchange.times) == 2


def test_an_error_is_an_answer_with_its_status() -> None:
    error = {"type": "error", "status": 404, "error": {"message": "no", "headers": {"X-Request-Id": "1"}}}
    _, (exchange,) = answered(saying(error), message())
    assert (exchange.status, exchange.error["message"]) == (404, "no")
    assert exchange.headers == {"x-request-id": "1"}
    assert not exchange.is_stream


@pytest.mark.parametrize("status", [None, 200, "404", True])
def test_an_error_without_a_status_is_a_400(status) -> None:
    _, (exchange,) = answered(saying({"type": "error", "status": status}), message())
    assert exchange.status == 400


def test_an_error_after_events_is_one_of_a_stream() -> None:
    _, (exchange,) = answered(saying({"type": "a"}, {"type": "error", "status": 500}), message())
    assert (exchange.status, exchange.ended, len(exchange.chunks)) == (200, "complete", 2)


def test_headers_of_the_first_event_are_those_of_the_answer() -> None:
    first = {"type": "a", "headers": {"X-Unsupported-Params": "n", "x": 1}}
    _, (exchange,) = answered(saying(first, {"type": "end"}), message())
    assert exchange.without_effect == {"n"}
    assert "x" not in exchange.headers


def test_messages_go_to_the_requests_of_their_lanes() -> None:
    messages = ({"type": "b", "stream_id": "2"}, {"type": "end", "stream_id": "1"}, {"type": "end", "stream_id": "2"})
    _, (one, two) = answered(saying(*messages), message(stream_id="1"), message(stream_id="2"))
    assert [len(exchange.chunks) for exchange in (one, two)] == [1, 2]


def test_messages_of_no_lane_go_to_the_oldest_request() -> None:
    _, (one, two) = answered(saying({"type": "end"}, "rubbish", {"type": "end"}), message(), message())
    assert one.messages == (b'{"type": "end"}',)
    assert two.messages == (b"rubbish", b'{"type": "end"}')


def test_a_server_that_is_busy_is_asked_again() -> None:
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        busy = {"type": "error", "status": 503, "error": {"message": "busy", "headers": {"retry-after": "0"}}}
        await connection.send(json.dumps(busy))
        await connection.recv()
        await connection.send('{"type": "end"}')

    _, (exchange,) = answered(handler, message())
    assert (exchange.status, exchange.retries) == (200, 1)


def test_a_connection_that_the_server_closes() -> None:
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.close(1008, "no more")

    _, (exchange,) = answered(handler, message())
    assert (exchange.status, exchange.ended) == (None, "cut off")
    assert exchange.problem == "the server closed the connection with the code 1008 (no more)"


def test_a_connection_that_breaks() -> None:
    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.send("{}")
        connection.transport.abort()

    _, (exchange,) = answered(handler, message())
    assert exchange.ended == "cut off"
    assert exchange.problem == "the connection broke before the answer was complete"


def test_a_server_that_says_nothing() -> None:
    _, (exchange,) = answered(saying(), message(), timeout=0.2)
    assert (exchange.status, exchange.ended) == (None, "too slow")


def test_an_endless_answer_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 1000)

    async def handler(connection: ServerConnection) -> None:
        await connection.recv()
        while True:
            await connection.send("")
            await asyncio.sleep(0)  # or else nobody reads until all buffers are full

    _, (exchange,) = answered(handler, message())
    assert exchange.ended == "too long"
    assert len(exchange.messages) < 100


def test_an_endless_message_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", 1000)
    _, (exchange,) = answered(saying("x" * 5000), message())
    assert (exchange.ended, exchange.problem) == ("too long", "a message exceeds 1000 bytes")


def test_the_key_goes_to_no_other_server() -> None:
    def elsewhere(connection: ServerConnection, request: Any) -> Response:
        response = connection.respond(HTTPStatus.FOUND, "")
        response.headers["Location"] = "ws://127.0.0.1:1/v1/responses"
        return response

    handshake, _ = answered(saying(), process_request=elsewhere)
    assert (handshake.status, handshake.problem) == (302, None)


def test_a_refused_handshake_has_its_error() -> None:
    handshake, _ = answered(
        saying(), process_request=lambda connection, _: connection.respond(HTTPStatus.FORBIDDEN, "not you")
    )
    assert (handshake.status, handshake.content) == (403, b"not you")
    assert str(handshake) == "GET /responses -> 403"


def test_a_server_that_is_not_there() -> None:
    async def run() -> Exchange:
        async with Client(Target("http://127.0.0.1:1/v1")) as client:
            return (await open_socket(client, Request(None, "GET", "/responses", {}, None), ENDS))[0]

    exchange = asyncio.run(run())
    assert (exchange.status, exchange.ended) == (None, "unreachable")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"rubbish\r\n\r\n", "the connection broke"),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", "the answer isn't a valid handshake"),
    ],
)
def test_an_answer_that_is_no_handshake(answer, problem) -> None:
    async def run() -> Exchange:
        async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)

        async with stream_server(handler) as port, Client(Target(f"http://127.0.0.1:{port}/v1")) as client:
            return (await open_socket(client, Request(None, "GET", "/responses", {}, None), ENDS))[0]

    exchange = asyncio.run(run())
    assert (exchange.status, exchange.ended) == (None, "cut off")
    assert str(exchange.problem).startswith(problem)
