"""WebSockets below their messages: the upgrade, the limit of connections, clients that don't read."""

import base64
import json
import logging
import os
import socket

import pytest
from support.serving import serving
from support.serving_here import ServerHere, serving_here
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.sync.client import connect

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
            with connect(url) as second:
                second.send(CREATE)
                assert json.loads(second.recv(timeout=PATIENCE))["type"] == "response.created"
                with pytest.raises(ConnectionClosed):
                    first.recv(timeout=PATIENCE)
