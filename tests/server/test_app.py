"""Every answer of the app: routes, the envelope, keys, ids, headers."""

import asyncio
import dataclasses
import json
import logging
import time
from collections.abc import AsyncGenerator
from typing import Any, get_args

import pytest
from support.app import MINIMAL, Client, error_of

from specvino.engine.errors import EngineBusy, InsufficientMemory
from specvino.engine.protocol import Loading, State
from specvino.engine.request import GenerationRequest
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment, Started
from specvino.handlers import bind
from specvino.handlers.limits import Limits
from specvino.handlers.models import ServedModel
from specvino.server.app import MissingHandler, create_app
from specvino.server.dialect import System
from specvino.server.settings import Settings


@pytest.fixture
def client():
    return Client()


@pytest.mark.parametrize("base", ["/v1", "/v3", "/v3/v1"])
def test_every_base_path_serves_the_same(client, base) -> None:
    assert client.ask("POST", f"{base}/chat/completions", json=MINIMAL).status_code == 200
    assert client.ask("GET", f"{base}/models").json()["data"][0]["id"] == "m"
    assert client.ask("GET", f"{base}/health").json() == {"status": "ok"}


def test_health_and_version_at_the_root(client) -> None:
    assert client.ask("GET", "/health").json() == {"status": "ok"}
    assert client.ask("GET", "/version").json()["version"]
    error_of(client.ask("GET", "/models"), 404, "not_found")


@pytest.mark.parametrize("path", ["/v1/models/org/name", "/v1/models/org%2Fname"])
def test_model_names_may_hold_slashes(client, path) -> None:
    assert client.ask("GET", path).json()["id"] == "org/name"


def test_names_may_hold_line_breaks(client) -> None:
    assert "'a\\n'" in error_of(client.ask("GET", "/v1/models/a%0A"), 404, "model_not_found")["message"]
    error_of(client.ask("GET", "/v1/models/%0A"), 404, "model_not_found")


def test_unknown_model(client) -> None:
    error = error_of(client.chat(model="gpt-9"), 404, "model_not_found")
    assert error["param"] == "model"
    assert "'gpt-9'" in error["message"]
    assert "m, org/name" in error["message"]
    error_of(client.ask("GET", "/v1/models/nope"), 404, "model_not_found")
    error_of(client.ask("GET", "/v1/models/"), 404, "not_found")
    assert error_of(client.ask("GET", "/v1/models/" + "x" * 513), 400, "string_above_max_length")["param"] == "model"


@pytest.mark.parametrize("path", ["/nope", "/v1", "/v1/nope", "/v1/health/", "/v2/models", "/v1/chat/completions/"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_an_unknown_path_is_404_for_every_method(client, method, path) -> None:
    error = error_of(client.ask(method, path), 404, "not_found")
    assert path in error["message"]


@pytest.mark.parametrize("path", ["/v3/responses/render", "/v1/models/load"])
def test_a_path_of_another_system_is_no_id(client, path) -> None:
    error = error_of(client.ask("POST", path, json={"model": "m"}), 404, "not_found")
    assert path in error["message"]


@pytest.mark.parametrize(
    ("method", "path", "allow"), [("GET", "/v1/chat/completions", "POST"), ("POST", "/health", "GET")]
)
def test_a_wrong_method_is_405_and_says_which_are_right(client, method, path, allow) -> None:
    response = client.ask(method, path)
    error_of(response, 405, "method_not_allowed")
    assert allow in response.headers["allow"]


def test_all_methods_of_a_path_are_named(client) -> None:
    response = client.ask("PUT", "/v1/responses/resp_1")
    error_of(response, 405, "method_not_allowed")
    assert response.headers["allow"] == "DELETE, GET, HEAD"
    for path in ("input_tokens", "compact"):
        assert client.ask("PUT", f"/v1/responses/{path}").headers["allow"] == "POST"


def test_bad_json_reaches_the_client_as_400(client) -> None:
    error = error_of(client.post(b'{"a": NaN}'), 400, "invalid_json")
    assert error["param"] is None
    error_of(client.post(b""), 400, "missing_body")
    deep = b"[" * 300 + b"]" * 300
    error_of(client.post(b'{"model": "m", "messages": ' + deep + b"}"), 400, "invalid_type")
    body = b'{"model": "m", "messages": [{"role": "user"}], "metadata": ' + deep + b"}"
    error_of(client.post(body), 400, "invalid_json")


def test_a_schema_violation_reaches_the_client_as_400(client) -> None:
    assert error_of(client.chat(temperature=3), 400, "decimal_above_max_value")["param"] == "temperature"


def test_content_types(client) -> None:
    raw = json.dumps(MINIMAL).encode()
    for value in ("application/json", "Application/JSON; charset=utf-8"):
        assert client.post(raw, content_type=value).status_code == 200
    assert client.ask("POST", "/v1/chat/completions", content=raw).status_code == 200, "a missing one is JSON"
    for value in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        error = error_of(client.post(raw, content_type=value), 415, "unsupported_media_type")
        assert "application/json" in error["message"]


def test_a_compressed_body_is_refused_as_such(client) -> None:
    error = error_of(client.post(b"\x1f\x8b", content_encoding="gzip"), 415, "unsupported_media_type")
    assert "gzip" in error["message"]


def test_body_limit() -> None:
    small = Client(settings=Settings(max_body=200))
    assert small.chat().status_code == 200
    error = error_of(small.chat(user="x" * 200), 413, "request_too_large")
    assert "200 bytes" in error["message"]


def test_fields_without_effect_are_reported_rejected_or_ignored() -> None:
    fields = {"foo": 1, "vllm_xargs": {"1": 1}}
    assert Client().chat(**fields).headers["x-unsupported-params"] == "foo, vllm_xargs"
    assert Client().chat(stream=True, **fields).headers["x-unsupported-params"] == "foo, vllm_xargs"
    assert "x-unsupported-params" not in Client().chat().headers
    rejecting = Client(settings=Settings(unsupported_fields="reject"))
    assert error_of(rejecting.chat(foo=1), 400, "unknown_parameter")["param"] == "foo"
    assert error_of(rejecting.chat(vllm_xargs={"1": 1}), 400, "unsupported_parameter")["param"] == "vllm_xargs"
    ignoring = Client(settings=Settings(unsupported_fields="ignore")).chat(**fields)
    assert ignoring.status_code == 200
    assert "x-unsupported-params" not in ignoring.headers


class TestKeys:
    client = Client(settings=Settings(keys=frozenset({"right", "schlüssel"})))

    def models(self, authorization=None):
        headers = {"authorization": authorization} if authorization is not None else {}
        return self.client.ask("GET", "/v1/models", headers=headers)

    @pytest.mark.parametrize("value", ["Bearer right", "bearer right", "Bearer schlüssel".encode()])
    def test_right(self, value) -> None:
        assert self.models(value).status_code == 200

    @pytest.mark.parametrize(
        "value", [None, "", "Bearer", "Bearer ", "right", "Basic right", "Bearer wrong", "Bearer \xff"]
    )
    def test_missing_and_wrong(self, value) -> None:
        response = self.models(value.encode("latin-1") if value else value)
        error_of(response, 401, "invalid_api_key")
        assert response.headers["www-authenticate"] == "Bearer"

    def test_a_wrong_key_is_refused_before_the_body_is_looked_at(self) -> None:
        error_of(self.client.post(b"{"), 401, "invalid_api_key")

    def test_root_operations_need_none(self) -> None:
        assert self.client.ask("GET", "/health").status_code == 200
        assert self.client.ask("GET", "/v1/version").status_code == 200

    def test_as_a_system_its_open_operations_need_none(self) -> None:
        client = Client(settings=Settings(keys=frozenset({"right"}), system=System("ovms", ("m",), {})))
        assert client.ask("GET", "/v3/models").status_code == 200
        assert client.ask("POST", "/v3/chat/completions", json=MINIMAL).status_code == 500, "as OVMS says it"


def test_request_ids(client) -> None:
    assert client.ask("GET", "/health", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.ask("GET", "/nope", headers={"x-request-id": "abc-2"}).headers["x-request-id"] == "abc-2"
    for bad in ("", "x" * 129, "a b"):
        assert client.ask("GET", "/health", headers={"x-request-id": bad}).headers["x-request-id"].startswith("req_")
    ids = {client.ask("GET", "/health").headers["x-request-id"] for _ in range(5)}
    assert len(ids) == 5


class _Crashing(ScriptedEngine):
    """Fails as no engine should: with an exception that is none of its own."""

    def __init__(self, after) -> None:
        super().__init__()
        self.after = after

    async def generate(self, request):
        count = 0
        async for segment in super().generate(request):
            if count == self.after:
                raise ZeroDivisionError("secret detail")
            count += 1
            yield segment


def test_a_crashing_handler_is_500_and_its_reason_stays_in_the_log(caplog) -> None:
    with caplog.at_level(logging.ERROR, logger="specvino.server"):
        response = Client(_Crashing(after=0)).chat()
    error = error_of(response, 500, "internal_error")
    assert "secret" not in response.text
    assert response.headers["x-request-id"] in error["message"]
    assert "secret detail" in caplog.text


def test_a_handler_that_crashes_in_a_stream_ends_it_with_an_error_event(caplog) -> None:
    with caplog.at_level(logging.ERROR, logger="specvino.server"):
        response = Client(_Crashing(after=2)).chat(stream=True)
    assert response.status_code == 200
    *chunks, error, done, rest = response.text.split("\n\n")
    assert chunks
    assert json.loads(error.removeprefix("data: "))["error"]["code"] == "internal_error"
    assert (done, rest) == ("data: [DONE]", "")
    assert "secret" not in response.text
    assert "secret detail" in caplog.text


def test_stream_headers(client) -> None:
    headers = client.chat(stream=True).headers
    assert headers["content-type"] == "text/event-stream"
    assert headers["cache-control"] == "no-cache"
    assert headers["x-accel-buffering"] == "no"


def test_a_missing_handler_fails_the_start_by_name() -> None:
    nothing: Any = object()
    lacking = dataclasses.replace(bind([ServedModel(("m",), 1, ScriptedEngine())]), chat=nothing)
    with pytest.raises(MissingHandler, match=r"create_chat_completion.*handlers\.chat"):
        create_app(lacking, Settings())


def test_health_while_loading() -> None:
    engine = ScriptedEngine()

    async def probe():
        import httpx
        from support.app import make_app

        transport = httpx.ASGITransport(make_app(engine))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get("/health"), await client.post("/v1/chat/completions", json=MINIMAL)

    for response in asyncio.run(probe()):
        error_of(response, 503, "engine_unavailable")
        assert int(response.headers["retry-after"]) >= 1


@pytest.mark.parametrize(("done", "total", "percent"), [(0, 0, None), (2, 3, 66), (3, 3, 100)])
def test_health_shows_how_far_a_start_is(done, total, percent) -> None:
    class Starting(ScriptedEngine):
        def stats(self):
            loading = Loading("reading the GGUF file", time.monotonic() - 7.5, done, total)
            return dataclasses.replace(super().stats(), state="loading", loading=loading)

    error = error_of(Client(Starting()).ask("GET", "/health"), 503, "engine_unavailable", "loading")
    seconds = error["loading"].pop("seconds")
    assert seconds >= 7
    assert error["loading"] == {"stage": "reading the GGUF file", "percent": percent}
    part = "" if percent is None else f" ({percent}%)"
    assert error["message"] == f"The engine is loading: reading the GGUF file{part}."


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("error", "status", "code", "retry_after"),
    [
        (EngineBusy("Too many requests are waiting.", retry_after=5), 429, "rate_limit_exceeded", "5"),
        (InsufficientMemory("It requires 9.0 GB of memory."), 400, "insufficient_memory", None),
    ],
)
def test_a_request_that_does_not_begin_has_a_status(error, status, code, retry_after, stream) -> None:
    class Refusing(ScriptedEngine):
        async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
            if request.prompts:  # always: what has no `yield` would be no generator
                raise error
            async for segment in super().generate(request):
                yield segment

    response = Client(Refusing()).chat(stream=stream)
    error_of(response, status, code)
    assert response.headers.get("retry-after") == retry_after


def test_an_answer_that_takes_too_long_ends_with_an_error() -> None:
    class Endless(ScriptedEngine):
        async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
            yield Started(1)
            await asyncio.Event().wait()

    response = Client(Endless(), limits=Limits(seconds=0.01)).chat()
    error_of(response, 503, "generation_timeout")
    assert response.headers["retry-after"] == "5"


@pytest.mark.parametrize("state", get_args(State))
def test_a_server_lives_whatever_its_engine_does(state) -> None:
    class InState(ScriptedEngine):
        def stats(self):
            return dataclasses.replace(super().stats(), state=state)

    client = Client(InState())
    assert client.ask("GET", "/health/live").json() == {"status": "ok"}
    health = client.ask("GET", "/health")
    if state in ("ready", "idle"):
        assert health.json() == {"status": "ok"} | ({"state": "idle"} if state == "idle" else {})
    else:
        assert state in error_of(health, 503, "engine_unavailable")["message"]


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/chat/completions", "/v1/chat/completions"),
        ("/v1/v1/chat/completions", "/v1/chat/completions"),
        ("/models/m", "/v1/models/m"),
        ("/chat", None),
        ("/v1/chat/completions/x", None),
    ],
)
def test_a_wrong_base_path_is_corrected(client, path, meant) -> None:
    message = error_of(client.ask("POST", path, json={}), 404, "not_found")["message"]
    assert message == f"The path {path} doesn't exist{f'; use {meant}' if meant else ''}."


@pytest.mark.parametrize(
    ("path", "use"),
    [
        ("/api/ps", "/v1/models, or start the server with --dialect ollama"),
        ("/v1/api/tags", "/v1/models, or start the server with --dialect ollama"),
        ("/api/embed", "OpenAI's API below /v1"),
    ],
)
def test_clients_of_ollama_are_told_what_to_use(client, path, use) -> None:
    message = error_of(client.ask("POST", path, json={}), 404, "not_found")["message"]
    assert message == f"The path {path} doesn't exist: this part of Ollama's own API isn't supported here; use {use}."
