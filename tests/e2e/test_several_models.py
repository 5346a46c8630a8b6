"""A server of two models, each with processes of its own."""

import signal
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import psutil
import pytest
from support.images import data_url, file
from support.serving import Server, healthy, serving, wait_until

from specvino.engine.models import ModelSource

ASKS = {"temperature": 0, "max_tokens": 8}
SEEN = [{"type": "image_url", "image_url": {"url": data_url(file("red"))}}, {"type": "text", "text": "colour?"}]


@pytest.fixture(scope="module")
def server(tiny_text: ModelSource, tiny_vision: ModelSource) -> Iterator[Server]:
    """All its processes end with it."""
    models = ("--model", f"text={tiny_text.path}", "--model", f"sees={tiny_vision.path}")
    with serving(*models, "--cache-size", "1", "--response-store", "none") as server:
        yield server
        children = server.children()
        assert len(children) >= 4, "a preprocess and a worker process of each model"
        assert server.stop() == 0
        wait_until(lambda: not any(child.is_running() for child in children))


def chat(server: Server, model: str, content: Any = "hello", **fields: Any) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": content}], **ASKS, **fields}
    return httpx.post(f"{server.url}/chat/completions", json=body, timeout=300)


def metric(server: Server, name: str, model: str) -> float:
    lines = httpx.get(f"{server.url.removesuffix('/v1')}/metrics").text.splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}{{") and f'model_name="{model}"' in line)
    return float(line.split()[-1])


def test_each_is_asked_for_what_it_can(server: Server) -> None:
    assert any(line.startswith("specvino: serving text, sees at ") for line in server.output.splitlines())
    listed = httpx.get(f"{server.url}/models").json()["data"]
    assert [model["id"] for model in listed] == ["text", "sees"]
    for name in ("text", "sees"):
        assert chat(server, name).json()["model"] == name
    assert chat(server, "sees", SEEN).status_code == 200
    refused = chat(server, "text", SEEN)
    assert refused.status_code == 400
    assert "image" in refused.json()["error"]["message"]
    tokens = {
        name: httpx.post(f"{server.url}/tokenize", json={"model": name, "text": "hello"}).json()["tokens"]
        for name in ("text", "sees")
    }
    assert all(tokens.values())
    assert metric(server, "vllm:prompt_tokens_total", "text") > 0
    assert metric(server, "vllm:prompt_tokens_total", "sees") > 0


def test_one_that_dies_does_not_touch_the_other(server: Server) -> None:
    """Its worker is killed while the other one answers: that answer goes on, and so do new ones."""
    before = chat(server, "sees").json()["choices"]
    workers = [child for child in server.children() if child.cmdline()[-1] == "worker"]
    assert len(workers) == 2
    lost = worker_of(server, "text", workers)
    ended: list[str] = []
    begun = threading.Event()

    def stream() -> None:
        body = {"model": "sees", "messages": [{"role": "user", "content": "count"}], "stream": True}
        body |= {"max_tokens": 400, "ignore_eos": True, "temperature": 0}
        with httpx.stream("POST", f"{server.url}/chat/completions", json=body, timeout=300) as response:
            for line in response.iter_lines():
                begun.set()
                if line.startswith("data: "):
                    ended.append(line)

    beside = threading.Thread(target=stream)
    beside.start()
    begun.wait(300)
    lost.send_signal(signal.SIGKILL)
    wait_until(lambda: metric(server, "specvino:engine_restarts_total", "text") == 1)
    assert healthy(server.url)
    assert chat(server, "sees").json()["choices"] == before
    beside.join()
    assert ended[-1] == "data: [DONE]"
    assert not any('"error"' in line for line in ended)
    assert metric(server, "specvino:engine_restarts_total", "sees") == 0
    wait_until(lambda: chat(server, "text").status_code == 200)


def worker_of(server: Server, name: str, workers: list[psutil.Process]) -> psutil.Process:
    """The one that computes while this model alone is asked."""
    before = {worker: sum(worker.cpu_times()[:2]) for worker in workers}
    chat(server, name, max_tokens=200, ignore_eos=True)
    return max(workers, key=lambda worker: sum(worker.cpu_times()[:2]) - before[worker])
