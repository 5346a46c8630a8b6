"""Keys with limits, as clients see them; the clock moves when a client sleeps."""

import functools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema_rs
import openai
import pytest
from openai import OpenAI
from support.serving_here import ServerHere, serving_here
from websockets.sync.client import connect

from specvino.conformance.http.exchange import error_of
from specvino.document.loading import OPENAPI_32, load
from specvino.document.operations import operations
from specvino.handlers import allowance
from specvino.handlers.store import OwnAccounts

BODIES: dict[str, dict[str, Any]] = {
    "chat/completions": {"messages": [{"role": "user", "content": "capital"}]},
    "completions": {"prompt": "capital"},
    "responses": {"input": "capital"},
    "responses/input_tokens": {"input": "capital"},
    "responses/compact": {"input": "capital"},
    "messages": {"messages": [{"role": "user", "content": "capital"}], "max_tokens": 9},
    "messages/count_tokens": {"messages": [{"role": "user", "content": "capital"}]},
    "api/chat": {"messages": [{"role": "user", "content": "capital"}]},
    "api/generate": {"prompt": "capital"},
    "tokenize": {"prompt": "capital"},
    "detokenize": {"tokens": [1]},
}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
def server(clock: Clock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerHere]:
    file = tmp_path_factory.mktemp("keys") / "keys"
    lines = ("minute requests-per-minute=1", "many requests-per-minute=1000 tokens-per-minute=2000", "free")
    file.write_text("\n".join([*lines, "few max-num-seqs=2", "tokens tokens-per-minute=2"]))
    file.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(allowance, "OwnAccounts", functools.partial(OwnAccounts, clock))
        with serving_here("--engine", "scripted", "--response-store", "none", "--api-key-file", str(file)) as server:
            yield server


@pytest.fixture(autouse=True)
def full(clock: Clock) -> None:
    """Each test begins with all of its limits."""
    clock.now += 3600
    clock.slept.clear()


def ask(server: ServerHere, key: str, path: str = "chat/completions", **fields: Any) -> httpx.Response:
    body = {"model": "scripted"} | BODIES[path] | fields
    return httpx.post(f"{server.url}/{path}", json=body, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def shown(answer: httpx.Response) -> dict[str, str]:
    before = "x-ratelimit-"
    return {name.removeprefix(before): value for name, value in answer.headers.items() if name.startswith(before)}


@pytest.mark.parametrize("path", BODIES)
def test_each_operation_that_uses_the_model_counts(server: ServerHere, path: str) -> None:
    first = ask(server, "minute", path)
    assert first.status_code == 200, first.text
    assert shown(first) == {"limit-requests": "1", "remaining-requests": "0", "reset-requests": "1m0s"}
    second = ask(server, "minute", path)
    assert (second.status_code, second.headers["retry-after"]) == (429, "60")
    assert error_of(second.json())["code"] == "rate_limit_exceeded"
    assert shown(second) == shown(first)
    assert shown(ask(server, "free", path)) == {}
    models = httpx.get(f"{server.url}/models", headers={"Authorization": "Bearer minute"})
    assert (models.status_code, shown(models)) == (200, {})


def test_the_document_has_exactly_these_headers_and_operations() -> None:
    document = load(OPENAPI_32)
    limited = {
        operation.path.removeprefix("/"): operation.definition["responses"]["200"]["headers"]
        for operation in operations(document)
        if "429" in operation.definition["responses"]
    }
    assert limited.keys() == BODIES.keys()
    names = {
        f"X-RateLimit-{name}-{kind}" for name in ("Limit", "Remaining", "Reset") for kind in ("Requests", "Tokens")
    }
    for shown in limited.values():
        assert names < shown.keys()
    for header, shown_as in (
        ("RateLimitLimitTokens", 6),
        ("RateLimitRemainingTokens", 0),
        ("RateLimitResetTokens", "6m0s"),
    ):
        assert jsonschema_rs.is_valid(document["components"]["headers"][header]["schema"], shown_as)


def test_an_answer_to_a_mistake_has_them_too(server: ServerHere) -> None:
    for status, answer in ((400, ask(server, "many", n=0)), (404, ask(server, "many", model="other"))):
        assert answer.status_code == status
        assert shown(answer)["limit-requests"] == "1000"
    assert shown(ask(server, "many"))["remaining-requests"] == "997"
    wrong = ask(server, "wrong")
    assert (wrong.status_code, shown(wrong)) == (401, {})


def test_tokens_are_those_of_the_usage(server: ServerHere) -> None:
    answer = ask(server, "many")
    used = answer.json()["usage"]["total_tokens"]
    assert shown(answer)["remaining-tokens"] == str(2000 - used)
    streamed = ask(server, "many", stream=True)  # whose headers are sent before the answer is generated
    assert shown(streamed)["remaining-tokens"] == str(2000 - used - answer.json()["usage"]["prompt_tokens"])
    assert shown(ask(server, "many", "tokenize"))["remaining-tokens"] == str(2000 - 2 * used)
    assert ask(server, "tokens").status_code == 200
    late = ask(server, "tokens")
    assert late.status_code == 429
    assert "(2 tokens per minute)" in late.json()["error"]["message"]


def test_choices_beyond_a_key_s_limit(server: ServerHere) -> None:
    assert ask(server, "few", n=2).status_code == 200
    assert ask(server, "few", n=3).json()["error"]["code"] == "invalid_value"
    assert ask(server, "few", "completions", prompt=["a", "b", "c"]).status_code == 400


def test_openai_s_client_waits_as_long_as_it_is_asked_to(
    server: ServerHere, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openai._base_client.time.sleep", clock.sleep)
    asked: Any = {"model": "scripted", "messages": [{"role": "user", "content": "capital"}]}
    with OpenAI(base_url=server.url, api_key="minute") as client:
        first = client.chat.completions.with_raw_response.create(**asked)
        assert first.headers["x-ratelimit-remaining-requests"] == "0"
        assert clock.slept == []
        second = client.chat.completions.with_raw_response.create(**asked)
        assert clock.slept == [60]
        assert second.retries_taken == 1
        with pytest.raises(openai.RateLimitError) as caught:
            client.with_options(max_retries=0).chat.completions.create(**asked)
    assert caught.value.code == "rate_limit_exceeded"
    assert caught.value.response.headers["x-ratelimit-reset-requests"] == "1m0s"


def test_messages_on_a_websocket_count_as_requests(server: ServerHere) -> None:
    create = json.dumps({"type": "response.create", "model": "scripted", "input": "capital", "store": False})
    url = server.url.replace("http", "ws") + "/responses"
    with connect(url, additional_headers={"Authorization": "Bearer minute"}) as socket:
        socket.send(create)
        events = [json.loads(socket.recv(timeout=60))]
        while events[-1]["type"] != "response.completed":
            events.append(json.loads(socket.recv(timeout=60)))
        assert events[0]["headers"]["x-ratelimit-remaining-requests"] == "0"
        socket.send(create)
        error = json.loads(socket.recv(timeout=60))
        assert (error["type"], error["status"], error["error"]["code"]) == ("error", 429, "rate_limit_exceeded")
        assert error["error"]["headers"]["retry-after"] == "60"
        assert error["error"]["headers"]["x-ratelimit-reset-requests"] == "1m0s"
    assert ask(server, "minute").status_code == 429
