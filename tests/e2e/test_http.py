"""What only a real connection shows."""

import contextlib
import json
import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest
from support.app import MINIMAL, error_of
from support.proxy import breaking
from support.serving import healthy, serving, wait_until
from support.serving_here import serving_here

from specvino.document.loading import dialect_file, load, whole
from specvino.document.transforms import served_at, to_32


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
    with serving_here("--engine", "scripted", "--max-body", "1000") as server:
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
    answer = exchange(scripted_server, b"\x16\x03\x01 rubbish\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b'"code":"invalid_http"' in answer
    assert httpx.get(f"{scripted_server.url}/health").status_code == 200


@pytest.mark.parametrize("size", [100_000, 20_000_000])
def test_a_client_that_sends_a_large_head_sees_why_it_is_refused(scripted_server, size) -> None:
    with connect(scripted_server) as connection:
        with contextlib.suppress(ConnectionError):  # it may see the refusal before it has sent all
            connection.sendall(b"GET /v1/models HTTP/1.1\r\nhost: x\r\nx: " + b"y" * size + b"\r\n\r\n")
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert b'"code":"headers_too_large"' in answer


def test_silent_connections_keep_nobody_out() -> None:
    with serving("--engine", "scripted", "--served-model-name", "m", "--max-connections", "3") as server:
        with contextlib.ExitStack() as silent, httpx.Client() as client:
            for _ in range(20):
                silent.enter_context(connect(server))
                assert client.get(f"{server.url}/health", headers={"connection": "close"}).status_code == 200
        wait_until(lambda: "--max-connections" in server.output)


def test_streams_keep_their_connections_and_others_are_told_so() -> None:
    stalled = {"messages": [{"role": "user", "content": "script: stall_at=1\na b c"}], "stream": True}
    with serving("--engine", "scripted", "--served-model-name", "m", "--max-connections", "2") as server:
        url = f"{server.url}/chat/completions"
        with (
            httpx.stream("POST", url, json=MINIMAL | stalled, timeout=300) as first,
            httpx.stream("POST", url, json=MINIMAL | stalled, timeout=300) as second,
        ):
            lines = first.iter_lines(), second.iter_lines()
            assert all(next(line).startswith("data: ") for line in lines)
            refused = httpx.get(f"{server.url}/health")
            error_of(refused, 503, "too_many_connections")
            assert refused.headers["retry-after"] == "1"
        wait_until(lambda: healthy(server.url))


def test_it_gives_documents(scripted_server) -> None:
    root = scripted_server.url.removesuffix("/v1")
    own = httpx.get(f"{root}/openapi.json").json()
    assert own["openapi"] == "3.2.0"
    assert own["paths"].keys() == whole()["paths"].keys()
    of_vllm = httpx.get(f"{scripted_server.url}/openapi.json", params={"dialect": "vllm"}).json()
    assert of_vllm == served_at("/v1/openapi.json", load(dialect_file("vllm")))
    newer = httpx.get(f"{root}/openapi.json", params={"dialect": "vllm", "version": "3.2"}).json()
    assert newer == served_at("/openapi.json", to_32(load(dialect_file("vllm"))))


@pytest.mark.parametrize("prefix", ["", "/prefix"])
@pytest.mark.parametrize("path", ["/openapi.json", "/v1/openapi.json", "/v3/v1/openapi.json"])
@pytest.mark.parametrize("dialect", [None, "ovms"])
def test_servers_of_a_document_are_relative_to_it(scripted_server, prefix, path, dialect) -> None:
    root = scripted_server.url.removesuffix("/v1")
    with breaking(root, lambda _: None, prefix) as proxy:
        address = httpx.URL(f"{proxy}{path}")
        document = httpx.get(address, params={"dialect": dialect} if dialect else {}).json()
        servers = [str(address.join(server["url"])) for server in document["servers"]]
        assert {f"{proxy}{base}" for base in ("/v1", "/v3", "/v3/v1")} == set(servers)
        assert all(httpx.get(f"{server}/models").status_code == 200 for server in servers)
        assert httpx.get(address.join(document["servers"][0]["url"] + "/../health")).status_code == 200
