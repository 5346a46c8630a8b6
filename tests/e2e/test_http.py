"""What only a real connection shows."""

import contextlib
import json
import socket
import time
from importlib.resources import files
from urllib.parse import urlsplit

import httpx
from support.app import MINIMAL, error_of
from support.serving import serving


def connect(server):
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def exchange(server, raw: bytes) -> bytes:
    with connect(server) as connection:
        connection.sendall(raw)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                answer += chunk
        return answer


def test_a_chunked_request_body(scripted_server) -> None:
    def parts():
        raw = json.dumps(MINIMAL).encode()
        yield raw[:10]
        yield raw[10:]

    response = httpx.post(
        f"{scripted_server.url}/chat/completions", content=parts(), headers={"content-type": "application/json"}
    )
    assert response.status_code == 200


def test_a_chunked_body_over_the_limit_is_refused_before_it_ends() -> None:
    with serving("--engine", "scripted", "--max-body", "1000") as server:
        head = (
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        with connect(server) as connection:
            connection.sendall(head + b"800\r\n" + b" " * 0x800 + b"\r\n")
            answer = b""
            while b"request_too_large" not in answer:
                chunk = connection.recv(65536)
                assert chunk
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 413")
        response = httpx.post(f"{server.url}/chat/completions", content=b" " * 2000)
        error_of(response, 413, "request_too_large")


def test_a_client_that_sends_all_before_it_reads_sees_why_it_is_refused(scripted_server) -> None:
    """The rest of a body that is too large is read: else the connection would be reset below the answer."""
    with httpx.Client() as client:
        for _ in range(3):
            response = client.post(f"{scripted_server.url}/chat/completions", content=b" " * 20_000_000)
            error_of(response, 413, "request_too_large")


def test_a_connection_serves_on_after_a_stream_and_after_an_error(scripted_server) -> None:
    with httpx.Client() as client:
        for _ in range(3):
            response = client.post(f"{scripted_server.url}/chat/completions", json=MINIMAL | {"stream": True})
            assert response.text.endswith("data: [DONE]\n\n")
            error_of(client.post(f"{scripted_server.url}/chat/completions", content=b"{"), 400, "invalid_json")


def test_a_client_that_goes_away_in_the_middle_of_its_body(scripted_server) -> None:
    with connect(scripted_server) as connection:
        connection.sendall(b'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"model"')
    time.sleep(0.1)
    assert httpx.get(f"{scripted_server.url}/health").status_code == 200
    assert "Traceback" not in scripted_server.output


def test_rubbish_instead_of_http(scripted_server) -> None:
    assert b"400" in exchange(scripted_server, b"\x16\x03\x01 rubbish\r\n\r\n")
    assert httpx.get(f"{scripted_server.url}/health").status_code == 200


def test_it_gives_its_document(scripted_server) -> None:
    documents = files("specvino.generated")
    root = scripted_server.url.removesuffix("/v1")
    assert httpx.get(f"{root}/openapi.json").json() == json.loads(documents.joinpath("openapi.json").read_text("utf-8"))
    of_vllm = json.loads(documents.joinpath("dialects", "vllm.json").read_text("utf-8"))
    assert httpx.get(f"{scripted_server.url}/openapi.json", params={"dialect": "vllm"}).json() == of_vllm
    refused = httpx.get(f"{root}/openapi.json", params={"dialect": "vllm", "version": "3.2"})
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "version")
