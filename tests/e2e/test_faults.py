"""Lost processes and clients that go away."""

import json
import os
import signal
import threading
from typing import Any

import httpx
import psutil
import pytest
from support.serving import endless, healthy, serving, wait_until

# Goes on until somebody ends it: so many tokens take longer than any patience here, so that what a test sees of such a
# request doesn't come of its end.
LONG = {
    "model": "m",
    "messages": [{"role": "user", "content": "count"}],
    "temperature": 0,
    "ignore_eos": True,
    "max_tokens": 300_000,
    "stream": True,
}


@pytest.fixture(scope="module")
def server(tiny_text, tmp_path_factory):
    with serving(
        str(endless(tiny_text, tmp_path_factory.mktemp("endless") / "model")), "--served-model-name", "m"
    ) as server:
        yield server


def events(response):
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield line.removeprefix("data: ")


def worker_of(server) -> psutil.Process:
    worker: psutil.Process = next(child for child in server.children() if "worker" in " ".join(child.cmdline()))
    return worker


def test_a_killed_worker_ends_its_streams_with_an_error_event_and_the_server_goes_on(server) -> None:
    ended: list[Any] = []

    def run():
        with httpx.stream("POST", f"{server.url}/chat/completions", json=LONG, timeout=300) as response:
            started.wait()
            ended.append(list(events(response))[-2:])

    started = threading.Barrier(5)
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    started.wait()
    worker_of(server).send_signal(signal.SIGKILL)
    for thread in threads:
        thread.join()
    assert len(ended) == 4
    for error, done in ended:
        assert json.loads(error)["error"]["code"] == "engine_restarted"
        assert done == "[DONE]"
    wait_until(lambda: healthy(server.url))
    answer = httpx.post(f"{server.url}/chat/completions", json=LONG | {"stream": False, "max_tokens": 3}, timeout=300)
    assert answer.status_code == 200


def test_a_client_that_goes_away_frees_its_place(server) -> None:
    """More long requests than there are places, all abandoned: the next short one is answered, and nothing goes on."""
    for _ in range(20):
        with httpx.stream("POST", f"{server.url}/chat/completions", json=LONG | {"n": 8}, timeout=300) as response:
            next(events(response))
    for _ in range(20):
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server.url}/chat/completions", json=LONG | {"n": 8, "stream": False}, timeout=0.05)
    worker = worker_of(server)
    short = LONG | {"stream": False, "max_tokens": 3}
    assert httpx.post(f"{server.url}/chat/completions", json=short, timeout=300).status_code == 200

    def idle() -> bool:
        return worker.cpu_percent(interval=0.3) < 5

    wait_until(idle)


def test_the_server_s_log_holds_no_prompt_text(server) -> None:
    secret = "a-text-that-must-not-be-logged"
    body = LONG | {"messages": [{"role": "user", "content": secret}], "max_tokens": 3, "stream": False}
    assert httpx.post(f"{server.url}/chat/completions", json=body, timeout=300).status_code == 200
    assert httpx.post(f"{server.url}/chat/completions", json=body | {"temperature": secret}).status_code == 400
    os.kill(worker_of(server).pid, signal.SIGKILL)
    wait_until(lambda: not healthy(server.url))
    wait_until(lambda: healthy(server.url))
    assert secret not in server.output
