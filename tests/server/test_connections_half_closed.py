"""A client that has sent everything and closes its half of the connection is answered; one that leaves isn't."""

import json
import socket
from typing import Any

import httpx
import pytest
from support.serving_here import ServerHere, serving_here

PATIENCE = 300
LONG: dict[str, Any] = {"min_tokens": 3900, "max_tokens": 3900, "ignore_eos": True}


@pytest.fixture(scope="module")
def server(tiny_text):
    with serving_here(str(tiny_text.path), "--served-model-name", "tiny") as server:
        yield server


def request(version: str = "1.1", **fields: Any) -> bytes:
    messages = [{"role": "user", "content": "capital"}]
    body = json.dumps({"model": "tiny", "messages": messages, "temperature": 0, **fields}).encode()
    head = f"POST /v1/chat/completions HTTP/{version}\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def answer(server: ServerHere, sent: bytes) -> bytes:
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(sent, socket.MSG_MORE)  # in one packet with the end
        connection.shutdown(socket.SHUT_WR)
        received = b""
        while more := connection.recv(1 << 16):
            received += more
    return received


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_a_whole_request_is_answered(server, version) -> None:
    received = answer(server, request(version))
    assert b" 200 OK\r\n" in received
    assert b"The capital of France is Paris." in received


def test_a_stream_is_sent_whole(server) -> None:
    assert answer(server, request(stream=True)).endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n")


def test_pipelined_requests_are_all_answered(server) -> None:
    assert answer(server, request() * 3).count(b" 200 OK\r\n") == 3


def test_part_of_a_request_is_not_waited_for(server) -> None:
    assert answer(server, request()[:-1]) == b""
    assert answer(server, b"") == b""


def test_a_client_that_leaves_is_not_answered(server) -> None:
    with socket.create_connection(server.address, timeout=PATIENCE) as connection:
        connection.sendall(request(**LONG))
        while _running(server) == 0:
            pass
    while _running(server) != 0:  # long before 3,900 tokens are generated
        pass
    assert _generated(server) < 3900


def _running(server: ServerHere) -> float:
    return _metric(server, "vllm:num_requests_running")


def _generated(server: ServerHere) -> float:
    return _metric(server, "vllm:generation_tokens_total")


def _metric(server: ServerHere, name: str) -> float:
    page = httpx.get(server.url.removesuffix("/v1") + "/metrics").text
    return sum(float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name))
