"""Whose turn it is, and what an answer is called."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
from support.serving import wait_until

from proofs import everywhere, proves
from proofs.asking import Ask

# The choices of requests that have all 64 places together, by the shares of engine/openvino/native/fair_queue.py.
FILLING = (48, 12, 3, 1)


def sequences(http: httpx.Client, state: str) -> float:
    """How many sequences of the server are running, or waiting."""
    text = http.get(str(http.base_url).removesuffix("/v1/") + "/metrics").text
    (line,) = (line for line in text.splitlines() if line.startswith(f"vllm:num_requests_{state}{{"))
    return float(line.rpartition(" ")[2])


@contextmanager
def streaming(http: httpx.Client, choices: int) -> Iterator[None]:
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "count"}],
        "n": choices,
        "ignore_eos": True,
        "max_tokens": 4000,
        "stream": True,
    }
    with http.stream("POST", "/chat/completions", json=body) as response:
        lines = response.iter_lines()  # to be kept: without it the stream is closed
        assert next(lines)
        yield


@proves(*everywhere("priority"))
def test_the_lowest_priority_is_next(ask: Ask) -> None:
    done: list[int] = []

    def wait_for_place(priority: int) -> None:
        ask("count", priority=priority, ignore_eos=True, **{ask.limit: 40})
        done.append(priority)

    http = ask.http
    with ThreadPoolExecutor() as threads, ExitStack() as filling:
        wait_until(lambda: sequences(http, "running") == 0)
        for turn, choices in enumerate(FILLING[:-1], start=1):
            filling.enter_context(streaming(http, choices))
            wait_until(lambda turn=turn: sequences(http, "running") == sum(FILLING[:turn]))
        with streaming(http, FILLING[-1]):
            wait_until(lambda: sequences(http, "running") == sum(FILLING))
            later = threads.submit(wait_for_place, 1)
            wait_until(lambda: sequences(http, "waiting") == 1)
            sooner = threads.submit(wait_for_place, -1)
            wait_until(lambda: sequences(http, "waiting") == 2)
        sooner.result()
        later.result()
    assert done == [-1, 1]


@proves("chat.request_id", "completions.request_id")
def test_the_answer_has_the_caller_s_id(ask: Ask) -> None:
    prefix = {"chat": "chatcmpl-", "completions": "cmpl-"}[ask.endpoint]
    assert ask("yes", request_id="mine").body["id"] == f"{prefix}mine"
    assert ask("yes", request_id=f"{prefix}é 1").body["id"] == f"{prefix}é 1"
    assert len(ask("yes", request_id="").body["id"]) > len(prefix)
