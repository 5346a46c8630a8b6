"""A server of a model and of the model with an adapter."""

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from support.adapters import matrices, write
from support.serving import Server, healthy, serving, wait_until

from specvino.engine.models import ModelSource

ASKS = {"messages": [{"role": "user", "content": "count"}], "temperature": 0, "max_tokens": 20}
TOP = {"logprobs": True, "top_logprobs": 2}


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("adapters") / "wild", matrices())


@pytest.fixture(scope="module")
def server(tiny_text: ModelSource, adapter: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPECVINO_CACHE", str(tmp_path_factory.mktemp("cache")))
        given = (str(tiny_text.path), "--lora-modules", f"wild={adapter}", "--cache-size", "1")
        with serving(*given, "--response-store", "none") as server:
            yield server


def chat(server: Server, model: str, **fields: object) -> httpx.Response:
    return httpx.post(f"{server.url}/chat/completions", json={"model": model, **ASKS, **fields}, timeout=300)


def text(server: Server, model: str, **fields: object) -> str:
    answer = chat(server, model, **fields)
    assert answer.status_code == 200, answer.text
    content: str = answer.json()["choices"][0]["message"]["content"]
    return content


def test_it_is_a_model_of_its_own(server: Server, adapter: Path) -> None:
    base, own = httpx.get(f"{server.url}/models").json()["data"]
    assert (base["id"], own["id"]) == ("tiny_text", "wild")
    assert (own["parent"], own["root"]) == ("tiny_text", str(adapter))
    assert not {"parent", "root"} & base.keys()
    assert own["meta"].pop("size") > base["meta"].pop("size")
    assert {key: own[key] for key in own.keys() - {"id", "parent", "root"}} == {
        key: base[key] for key in base.keys() - {"id"}
    }
    assert text(server, "tiny_text").startswith("1, 2, 3")
    assert not text(server, "wild").startswith("1, 2, 3")


def test_the_scores_of_all_tokens_are_its_own(server: Server) -> None:
    """They come from another process, which has to have the adapter, too."""
    answer = chat(server, "wild", **TOP)
    assert "x-unsupported-params" not in answer.headers
    (choice,) = answer.json()["choices"]
    assert choice["message"]["content"] == text(server, "wild")
    assert all(token["top_logprobs"][0]["logprob"] == token["logprob"] for token in choice["logprobs"]["content"])


def test_one_that_dies_does_not_touch_the_other(server: Server) -> None:
    before = text(server, "wild")
    for lost in workers(server):
        (other,) = set(workers(server)) - {lost}
        lost.send_signal(signal.SIGKILL)
        lost.wait(300)
        assert healthy(server.url)
        wait_until(lambda: all(chat(server, name).status_code == 200 for name in ("tiny_text", "wild")))
        assert other in workers(server)
    assert text(server, "wild") == before


def workers(server: Server) -> list[psutil.Process]:
    found = [child for child in server.children() if child.cmdline()[-1] == "worker"]
    assert len(found) == 2
    return found
