"""A server in a control group that is just large enough for it: what clients ask for ends no process."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.control_groups import Group, limited
from support.qwen3_gguf import write
from support.serving import COMMAND, serving, starting

from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.memory_budget import SERVER
from specvino.engine.openvino.client.memory_needs import CACHE_STEP, GB, needs

MB = 2**20

# What may be refused, and why.
REFUSALS = {400: ("insufficient_memory", "context_length_exceeded"), 503: None}


def attack(words: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Requests of all kinds, and the same long prompt many times: its keys and values are unpacked for each."""
    for salt in range(3):
        short = [{"role": "user", "content": f"What is {salt}?"}]
        long = f"{salt} " + "word " * words
        yield "chat/completions", {"messages": short, "logprobs": True, "top_logprobs": 5}
        yield "chat/completions", {"messages": short, "logit_bias": {"5": -1}}
        yield "chat/completions", {"messages": short, "n": 16}
        yield "completions", {"prompt": long, "echo": True, "logprobs": 3}
        yield "completions", {"prompt": long, "use_beam_search": True, "best_of": 4}
        yield "completions", {"prompt": long, "allowed_token_ids": [5, 6]}
        yield "completions", {"prompt": long, "n": 32}
    for _ in range(16):
        yield "completions", {"prompt": "word " * words}


def sent(url: str, request: tuple[str, dict[str, Any]]) -> httpx.Response:
    path, body = request
    return httpx.post(f"{url}/{path}", json={"model": "m", "max_tokens": 8, **body}, timeout=None)


def attacked(source: ModelSource, group: Group, words: int) -> set[str]:
    """Sends all at once, and returns the codes of the refusals, with `ok` for an answer."""
    arguments = (str(source.path), "--served-model-name", "m", "--max-queue", "1000")
    with serving(*arguments, command=group.within(COMMAND)) as server:
        with ThreadPoolExecutor(64) as clients:
            answers = list(clients.map(lambda request: sent(server.url, request), attack(words)))
        for answer in answers:
            accepted = answer.status_code == 200 or answer.status_code in REFUSALS
            assert accepted, answer.text
            codes = REFUSALS.get(answer.status_code)
            assert not codes or answer.json()["error"]["code"] in codes, answer.text
        assert sent(server.url, ("completions", {"prompt": "word"})).status_code == 200
        assert "restart" not in server.output
        assert group.killed == 0
        return {"ok" if answer.status_code == 200 else answer.json()["error"]["code"] for answer in answers}


@pytest.mark.exhaustive
@pytest.mark.parametrize("copies", [0, 1])
def test_a_nearly_full_machine(smollm2: ModelSource, copies: int) -> None:
    """Without room for a second copy of the model, and with just that."""
    needed = needs(smollm2)
    second = needed.full_logits + GB // 4
    # A cache of less than a gigabyte takes precedence over the second copy.
    limit = SERVER + needed.with_cache(GB if copies else CACHE_STEP) + copies * second + 64 * MB
    with limited(limit) as group:
        codes = attacked(smollm2, group, words=1_000)
    assert "ok" in codes
    assert ("insufficient_memory" in codes) == (copies == 0), codes


def test_a_file_that_is_not_converted_and_has_no_room(tmp_path: Path) -> None:
    """OpenVINO makes no cache of less than a gigabyte there."""
    (tmp_path / "cache").write_text("")
    gguf = write(tmp_path / "model.gguf")
    env = {"SPECVINO_CACHE": str(tmp_path / "cache")}
    with limited(1600 * MB) as group, starting(str(gguf), env=env, command=group.within(COMMAND)) as server:
        assert server.process.wait() == 2
        assert group.killed == 0
    assert "isn't converted to OpenVINO's format (a warning says why)" in server.output
    assert "SPECVINO_CACHE names another folder" in server.output
