"""From the first line printed to the last process gone."""

import contextlib
import fcntl
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading

import httpx
import psutil
import pytest
from support.app import MINIMAL, error_of
from support.qwen3_gguf import write
from support.serving import COMMAND, PATIENCE, Server, endless, healthy, serving, starting, wait_until
from support.serving_here import unserved


def left(children: list[psutil.Process]) -> list[psutil.Process]:
    """Those that are there now: a server that ends by itself sees its children out first."""
    return psutil.wait_procs(children, timeout=0)[1]


def require_a_clean_end(server: Server, number: int) -> None:
    """A signal ends it cleanly and leaves no process."""
    children = server.children()
    assert len(children) >= 2, "a preprocess and a worker process"
    assert server.stop(number) == 0
    assert left(children) == []
    assert "Traceback" not in server.output


def test_one_line_with_the_address_when_ready(tiny_text) -> None:
    with serving(str(tiny_text.path), "--response-store", "none") as server:
        assert healthy(server.url)
        lines = [line for line in server.lines if "GET" not in line]
        assert all(f"{tiny_text.path}: memory: " in line for line in lines[:4])
        loading, model, ready, pages, serving_at = lines[4:]
        assert loading == "specvino: loading the model\n"
        assert model.startswith("specvino: tiny_text: OpenVINO on CPU; context 4,096 tokens; KV cache ")
        assert model.endswith("; tool calls: as in the chat template; reasoning: qwen3\n")
        assert re.fullmatch(r"specvino: ready after \d+\.\d s\n", ready)
        root = server.url.removesuffix("/v1")
        assert pages == f"specvino: chat at {root}/, API reference at {root}/docs\n"
        assert serving_at == f"specvino: serving {tiny_text.path.name} at {server.url}\n"
        assert httpx.get(f"{server.url}/models").json()["data"][0]["id"] == tiny_text.path.name
        require_a_clean_end(server, signal.SIGINT)


@pytest.mark.parametrize(
    ("options", "calls", "listed"),
    [
        ((), "only if forced, as hermes3", ["completion", "tools"]),
        (("--tool-parser", "hermes"), "hermes3", ["completion", "tools"]),
        (("--tool-parser", "none"), "none", ["completion"]),
    ],
)
def test_people_and_clients_are_told_the_same_of_tools(tiny_text, tmp_path, options, calls, listed) -> None:
    template = tmp_path / "no_tools.jinja"
    template.write_text("{% for message in messages %}{{ message.content }}{% endfor %}")
    with serving(str(tiny_text.path), "--response-store", "none", "--chat-template", str(template), *options) as server:
        assert any(f"; tool calls: {calls}; reasoning: none\n" in line for line in server.lines)
        assert httpx.get(f"{server.url}/models").json()["data"][0]["capabilities"] == listed


def test_a_gguf_file_is_converted_at_the_first_start(tmp_path) -> None:
    file, env = write(tmp_path / "m.gguf"), {"SPECVINO_CACHE": str(tmp_path / "cache")}
    body = {"model": "m", "prompt": "hello", "max_tokens": 8, "temperature": 0, "logprobs": 2}
    stages, answers = [], []
    for _ in range(2):
        with serving(str(file), "--response-store", "none", "--cache-size", "1", env=env) as server:
            stages.append([line for line in server.lines if line.endswith("the model\n") or "GGUF file" in line])
            answers.append(httpx.post(f"{server.url}/completions", json=body, timeout=300).json()["choices"])
            listed = subprocess.run(
                [sys.executable, "-m", "specvino.cli", "models", "--format", "json"],
                env=os.environ | env,
                capture_output=True,
                check=True,
            )
            (entry,) = json.loads(listed.stdout)
            assert (entry["source"], entry["in_use"]) == (str(file), True)
    loading = "specvino: loading the model\n"
    assert stages == [
        ["specvino: reading the GGUF file 0 MB\n", "specvino: converting the model\n", loading],
        [loading],
    ]
    # A cache that can't be written.
    with serving(
        str(file), "--response-store", "none", "--cache-size", "1", env={"SPECVINO_CACHE": str(file)}
    ) as server:
        assert sum("isn't kept in OpenVINO's format" in line for line in server.lines) == 1
        answers.append(httpx.post(f"{server.url}/completions", json=body, timeout=300).json()["choices"])
    assert answers[0] == answers[1] == answers[2]


def test_health_and_a_signal_during_a_conversion(tmp_path) -> None:
    file = write(tmp_path / "m.gguf")
    cache = tmp_path / "cache" / "converted"
    cache.mkdir(parents=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"

    def stage() -> str:
        with contextlib.suppress(httpx.TransportError):
            error = httpx.get(f"{url}/health").json().get("error", {})
            return str(error.get("loading", {}).get("stage"))
        return ""

    with (cache / ".lock").open("wb") as lock:  # another conversion
        fcntl.flock(lock, fcntl.LOCK_EX)
        with starting(str(file), "--port", str(port), env={"SPECVINO_CACHE": str(tmp_path / "cache")}) as server:
            wait_until(lambda: stage() == "waiting for another conversion")
            assert httpx.get(f"{url}/health/live").status_code == 200
            assert "specvino: waiting for another conversion\n" in server.lines
            server.stop(signal.SIGTERM)
            assert "Traceback" not in server.output


def test_a_signal_ends_it_cleanly_and_leaves_no_process(tiny_text) -> None:
    with serving(str(tiny_text.path)) as server:
        require_a_clean_end(server, signal.SIGTERM)


def test_sigkill_leaves_no_process(tiny_text, tmp_path) -> None:
    """None of them comes to its end without it: the worker is at work on an answer that goes on."""
    body = MINIMAL | {"stream": True, "ignore_eos": True, "max_tokens": 300_000}
    with serving(str(endless(tiny_text, tmp_path / "model")), "--served-model-name", "m") as server:
        children = server.children()
        assert len(children) >= 2
        with httpx.stream("POST", f"{server.url}/chat/completions", json=body, timeout=300) as response:
            next(response.iter_lines())
            server.stop(signal.SIGKILL)
        _, alive = psutil.wait_procs(children, timeout=300)
        assert alive == []


def test_a_signal_while_loading_ends_it_too(tiny_text) -> None:
    with starting(str(tiny_text.path)) as server:
        wait_until(server.children)
        children = server.children()
        server.stop(signal.SIGTERM)
        assert left(children) == []


def test_streams_under_way_end_before_it_does() -> None:
    with serving("--engine", "scripted", "--served-model-name", "m") as server:
        with httpx.stream("POST", f"{server.url}/chat/completions", json=MINIMAL | {"stream": True}) as response:
            stopper = threading.Thread(target=server.stop)
            stopper.start()
            assert response.read().endswith(b"data: [DONE]\n\n")
        stopper.join()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["/no/such/model"], "/no/such/model"),
        (["--engine", "scripted", "--api-key-file", "/no/such/file"], "/no/such/file"),
        (["--engine", "scripted", "--metrics-key-file", "/no/such/keys"], "/no/such/keys"),
        (["--engine", "scripted", "--otlp-traces-endpoint", "collector:4318"], "'collector:4318'"),
        (["--engine", "scripted", "--response-store", "somewhere"], "--response-store"),
    ],
)
def test_what_can_t_start_says_why_in_one_line(arguments, reason) -> None:
    ended = unserved(*arguments)
    assert ended.exit_code == 2
    (line,) = ended.output.splitlines()
    assert line.startswith("specvino: ")
    assert reason in line


def test_a_host_that_is_none_ends_the_start_in_one_line() -> None:
    with starting("--engine", "scripted", "--host", "256.1.1.1") as server:
        assert server.process.wait(300) == 1
        wait_until(lambda: server.lines)
    assert len(server.lines) == 1, server.output
    assert server.lines[0].startswith("specvino: ")
    assert "256.1.1.1" in server.lines[0]


def test_a_broken_model_ends_the_start_in_one_line(tiny_text, tmp_path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for file in tiny_text.path.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    (broken / "openvino_model.xml").write_text("<net></net>")
    with starting(str(broken)) as server:
        assert server.process.wait(300) == 2
    assert server.lines == [
        f"specvino: {broken}/openvino_model.bin: has 512,769 bytes, but openvino_model.xml describes 0: it is "
        "truncated, or belongs to another model; copy both files again\n"
    ]


def test_a_folder_of_files_of_two_models_ends_the_start_in_one_line(tiny_text, tiny_vision, tmp_path) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(tiny_text.path, mixed)
    shutil.copy(tiny_vision.path / "openvino_text_embeddings_model.bin", mixed / "openvino_model.bin")
    with starting(str(mixed)) as server:
        assert server.process.wait(300) == 2
    assert server.lines == [
        f"specvino: {mixed}/openvino_model.bin: has 192,004 bytes, but openvino_model.xml describes 512,769: it is "
        "truncated, or belongs to another model; copy both files again\n"
    ]


def test_a_port_in_use() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with starting("--engine", "scripted", "--port", port) as server:
            assert server.process.wait(300) == 1
        assert len(server.lines) == 1
        assert f"port {port}" in server.lines[0]


def test_health_is_503_while_loading(tiny_text) -> None:
    """It goes on to load as long as the process that loads the model is stopped."""
    with starting(str(tiny_text.path), "--port", str(port := _free_port())) as server:
        health = f"http://127.0.0.1:{port}/v1/health"

        def workers() -> list[psutil.Process]:
            # What is forked, but runs no program of its own yet, must not be stopped: the server waits for that.
            return [child for child in server.children() if child.cmdline()[-1:] == ["worker"]]

        wait_until(workers)
        (worker,) = workers()
        worker.suspend()
        try:
            assert httpx.get(health, timeout=PATIENCE).status_code == 503
        finally:
            worker.resume()
        wait_until(lambda: httpx.get(health, timeout=PATIENCE).status_code == 200)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_what_is_late_at_the_end_gets_a_proper_error() -> None:
    stalled = MINIMAL | {"messages": [{"role": "user", "content": "script: stall_at=1\na b c"}]}
    with serving("--engine", "scripted", "--served-model-name", "m", "--shutdown-timeout", "1") as server:
        url = f"{server.url}/chat/completions"
        with (
            httpx.stream("POST", url, json=stalled | {"stream": True}, timeout=300) as stream,
            _begun(url, stalled) as late,
        ):
            lines = stream.iter_lines()
            next(lines)
            server.process.send_signal(signal.SIGINT)
            *_, error, _, done, _ = lines
            answer = http.client.HTTPResponse(late)
            answer.begin()
            late_error = httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())
        assert server.process.wait(300) == 0
    assert json.loads(error.removeprefix("data: "))["error"]["code"] == "engine_unavailable"
    assert done == "data: [DONE]"
    error_of(late_error, 503, "engine_unavailable")
    assert "shutting down" in server.output
    assert "Traceback" not in server.output


@contextlib.contextmanager
def _begun(url, body):
    """The socket of a unary request that the server has certainly begun to read: it has asked for the body."""
    data = json.dumps(body).encode()
    address = httpx.URL(url)
    head = f"POST {address.path} HTTP/1.1\r\nHost: {address.host}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(data)}\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection((address.host, address.port), timeout=300) as client:
        client.sendall(head.encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 100")
        client.sendall(data)
        yield client


def test_few_open_files() -> None:
    """It says so once, and goes on: idle connections beyond are closed."""
    limited = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *COMMAND]
    with serving("--engine", "scripted", "--response-store", "none", command=limited) as server:
        (warning,) = (line for line in server.lines if "64" in line and "open" in line)
        assert "connections" in warning
        with contextlib.ExitStack() as connections:
            for _ in range(100):
                connections.enter_context(socket.create_connection(server.address, PATIENCE))
            assert all(httpx.get(f"{server.url}/models").status_code == 200 for _ in range(3))
        assert len([line for line in server.lines if "open-file limit of 64" in line]) == 1
        assert "Traceback" not in server.output
