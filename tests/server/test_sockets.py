"""WebSockets below their messages: the upgrade, frames, the limit of connections, clients that don't read."""

import asyncio
import base64
import json
import logging
import os
import socket
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

import httpx
import pytest
import uvicorn
from support.serving import serving, wait_until
from support.serving_here import ServerHere, serving_here
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from specvino.server.connections import BODY_SECONDS, Connections
from specvino.server.socket_protocol import Incomplete, SocketProtocol

PATIENCE = 60
CREATE = json.dumps({"type": "response.create", "model": "scripted", "input": "capital", "store": False})


@pytest.fixture(scope="module")
def server():
    with serving_here("--engine", "scripted") as server:
        yield server


def head(*fields: str, path: str = "/v1/responses", version: int = 13) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [
        f"GET {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Connection: Upgrade",
        "Upgrade: websocket",
        f"Sec-WebSocket-Key: {key}",
        f"Sec-WebSocket-Version: {version}",
        *fields,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def answer(server: ServerHere, sent: bytes, enough: bytes) -> bytes:
    """What the server answers, until it has sent `enough` or closes the connection."""
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(sent)
        received = b""
        while enough not in received and (more := connection.recv(1 << 16)):
            received += more
    return received


def test_a_message_may_come_with_the_head(server) -> None:
    frame = Frame(Opcode.TEXT, CREATE.encode()).serialize(mask=True)
    received = answer(server, head() + frame, b"response.completed")
    assert received.startswith(b"HTTP/1.1 101 ")
    assert b'"type":"response.created"' in received


def test_an_upgrade_is_not_pipelined(server) -> None:
    body = json.dumps({"model": "scripted", "input": "capital"}).encode()
    first = b"POST /v1/responses HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    received = answer(server, first + head(), b"\0")
    assert b"HTTP/1.1 101" not in received


def test_another_version_of_the_protocol_is_refused(server) -> None:
    assert answer(server, head(version=12), b": 12.\n").startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("fields", "path", "message"),
    [
        (["X-Long: " + "a" * 9000], "/v1/responses", b"no more than 8192 bytes"),
        ([f"X-{number}: a" for number in range(130)], "/v1/responses", b"no more than 128 headers"),
        ([], "/v1/responses?" + "a" * 9000, b"no more than 8192 bytes"),
    ],
    ids=["line", "fields", "target"],
)
def test_a_head_beyond_the_limits_of_a_websocket_is_refused(
    server, fields: list[str], path: str, message: bytes
) -> None:
    received = answer(server, head(*fields, path=path), b"\0")
    assert received.startswith(b"HTTP/1.1 431 ")
    assert message in received


def test_other_upgrades_are_not_offers_that_count(server) -> None:
    offer = b"GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    assert answer(server, offer, b"scripted").startswith(b"HTTP/1.1 200 ")


def test_a_refusal_is_not_an_error_of_the_server(server, caplog) -> None:
    with caplog.at_level(logging.INFO):
        assert answer(server, head(path="/v1/chat/completions"), b"not_found").startswith(b"HTTP/1.1 404 ")
        answer(server, head(path="/v1/chat/completions"), b"not_found")
    errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert errors == []


def test_an_idle_connection_makes_room() -> None:
    with serving("--engine", "scripted", "--max-connections", "1") as server:
        url = server.url.replace("http", "ws", 1) + "/responses"
        with connect(url) as first:
            first.send(CREATE)
            while json.loads(first.recv(timeout=PATIENCE))["type"] != "response.completed":
                pass
            made: list[ClientConnection] = []

            def is_accepted() -> bool:
                with suppress(InvalidStatus):  # the first one is idle only once its last event is off
                    made.append(connect(url))
                return bool(made)

            wait_until(is_accepted)
            with made[0] as second:
                second.send(CREATE)
                assert json.loads(second.recv(timeout=PATIENCE))["type"] == "response.created"
                with pytest.raises(ConnectionClosed):
                    first.recv(timeout=PATIENCE)


def closed(server: ServerHere, *sent: bytes) -> int:
    """The code with which the server closes a connection on which so much is sent; 0 for none."""
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(head())
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(1 << 16)
        with suppress(ConnectionError):
            for piece in sent:
                connection.sendall(piece)
        received = received.partition(b"\r\n\r\n")[2]
        with suppress(ConnectionError):
            while more := connection.recv(1 << 16):
                received += more
    start = received.rfind(b"\x88")  # the end of a message, and a close
    return int.from_bytes(received[start + 2 : start + 4], "big") if start >= 0 else 0


def frame(opcode: Opcode, data: bytes, *, fin: bool = True, mask: bool = True) -> bytes:
    return Frame(opcode, data, fin=fin).serialize(mask=mask)


BEGUN = frame(Opcode.TEXT, b'{"type":', fin=False)


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(frame(Opcode.TEXT, b"{}", mask=False), id="unmasked"),
        pytest.param(frame(Opcode.TEXT, b"\xff"), id="no UTF-8"),
        pytest.param(frame(Opcode.TEXT, b"", fin=False) + frame(Opcode.CONT, b"", fin=False) * 5000, id="fragments"),
    ],
)
def test_a_wrong_frame_that_comes_with_the_head(server, caplog, frames) -> None:
    """The app may not have accepted yet."""
    with suppress(ConnectionError):
        answer(server, head() + frames, b"\x88")
    assert httpx.get(f"{server.url}/models").status_code == 200
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        pytest.param([frame(Opcode.TEXT, b"{}", mask=False)], 1002, id="unmasked"),
        pytest.param([frame(Opcode.CONT, b"{}")], 1002, id="a continuation of nothing"),
        pytest.param([BEGUN, frame(Opcode.TEXT, b"{}")], 1002, id="a message within a message"),
        pytest.param([b"\x89\xfe\x00\x7e" + bytes(4) + b"x" * 126], 1002, id="a long ping"),
        pytest.param([b"\x09\x80" + bytes(4)], 1002, id="half a ping"),
        pytest.param([b"\xc1\x80" + bytes(4)], 1002, id="compressed, which was not agreed on"),
        pytest.param([b"\x83\x80" + bytes(4)], 1002, id="an unknown opcode"),
        pytest.param([b"\x81\xff" + (1 << 62).to_bytes(8, "big") + bytes(4)], 1009, id="exabytes announced"),
        pytest.param([BEGUN, *[frame(Opcode.CONT, b"x" * 2**20, fin=False)] * 20], 1009, id="endless large fragments"),
        pytest.param([BEGUN, frame(Opcode.CONT, b"", fin=False) * 10_000], 1009, id="endless empty fragments"),
        pytest.param([frame(Opcode.TEXT, b'{"type":"\xff"}')], 1007, id="invalid UTF-8"),
        pytest.param([BEGUN, frame(Opcode.CONT, b'"\xc3"}')], 1007, id="a cut character"),
    ],
)
def test_what_is_no_message_ends_the_connection(server, caplog, sent: list[bytes], code: int) -> None:
    with caplog.at_level(logging.INFO):
        assert closed(server, *sent) == code
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_a_client_that_only_sends_pings_gets_pongs(server) -> None:
    asked = b"".join(frame(Opcode.PING, b"%d" % number) for number in range(500))
    received = answer(server, head() + asked, b"\x8a\x03499")
    assert received.count(b"\x8a") >= 500


def test_a_half_closed_connection_is_closed(server) -> None:
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(head() + BEGUN)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1 << 16):
            pass


class Transport(asyncio.Transport):
    """A connection whose client reads nothing."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.reads, self.closing = True, False
        self.written = b""

    def write(self, data: Any) -> None:
        self.written += data

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    abort = close


async def opened(incomplete: Incomplete) -> tuple[SocketProtocol, Transport]:
    accepted = asyncio.Event()

    async def reading(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        accepted.set()
        while (await receive())["type"] != "websocket.disconnect":
            pass

    config = uvicorn.Config(reading, ws_max_size=2**24, log_config=None, interface="asgi3", lifespan="off")
    config.load()
    protocol = SocketProtocol(Connections(), incomplete, config=config, server_state=ServerState(), app_state={})
    protocol.connection_made(transport := Transport())
    protocol.data_received(head())
    await accepted.wait()
    return protocol, transport


def in_a_loop(test: Callable[[], Coroutine[None, None, None]]) -> Callable[[], None]:
    def run() -> None:
        asyncio.run(test())

    run.__name__ = test.__name__
    return run


@in_a_loop
async def test_pings_are_not_read_while_their_pongs_are_not() -> None:
    protocol, transport = await opened(Incomplete(2**20))
    reads = []
    for change in (lambda: None, protocol.pause_writing, protocol.resume_writing):
        change()
        protocol.data_received(frame(Opcode.PING, b"a"))
        reads.append(transport.reads)
    assert reads == [True, False, True]


@in_a_loop
async def test_a_message_has_as_long_as_a_body() -> None:
    slow, transport = await opened(Incomplete(2**20))
    fast, other = await opened(Incomplete(2**20))
    ahead, third = await opened(Incomplete(2**20))
    message = frame(Opcode.TEXT, b"{}")
    ahead.data_received(message[:3])
    for second in range(BODY_SECONDS + 1):
        slow.data_received(frame(Opcode.CONT if second else Opcode.TEXT, b"a", fin=False))
        fast.data_received(message)
        ahead.data_received(message[3:] + message[:3])  # always within a message, but another one each time
        await asyncio.sleep(0)
        assert not transport.closing
        slow.tick()
        fast.tick()
        ahead.tick()
    assert transport.closing
    assert b"takes too long" in transport.written
    assert not other.closing
    assert not third.closing


@in_a_loop
async def test_incomplete_messages_are_bounded_together() -> None:
    incomplete = Incomplete(1000)
    sockets = [await opened(incomplete) for _ in range(3)]
    for protocol, _ in sockets:
        protocol.data_received(frame(Opcode.TEXT, b"a" * 400, fin=False))
    assert [transport.closing for _, transport in sockets] == [True, False, False]
    assert sockets[0][1].written.endswith(b"too many incomplete messages")
    sockets[1][0].data_received(frame(Opcode.CONT, b"a"))
    sockets[0][0].connection_lost(None)
    fourth, _ = await opened(incomplete)
    fourth.data_received(frame(Opcode.TEXT, b"a" * 400, fin=False))
    assert not any(transport.closing for _, transport in sockets[1:])
