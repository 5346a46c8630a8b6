"""What only this server knows of an answer."""

import re

import pytest
from support.app import Client

from specvino.engine.errors import EngineUnavailable
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers.limits import Limits
from specvino.server.dialect import speaker
from specvino.server.settings import Settings


@pytest.mark.parametrize("name", ["vllm", "fastdeploy"])
def test_a_model_s_permission(name: str) -> None:
    engine = ScriptedEngine()
    client = Client(
        engine, Settings(system=speaker(name, dict.fromkeys(("m", "org/name"), engine), Limits(), named=True))
    )
    model, _ = client.ask("GET", "/v1/models").json()["data"]
    (permission,) = model["permission"]
    assert re.fullmatch("modelperm-[0-9a-f]{32}", permission.pop("id"))
    assert permission.pop("created") >= model["created"]
    assert permission["allow_sampling"] is True
    assert permission["organization"] == "*"
    assert permission["allow_fine_tuning"] is False


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_that_is_none_constrains_nothing_as_ovms(stream) -> None:
    engine = ScriptedEngine()
    wrong = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "nonsense"}}}
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "response_format": wrong, "stream": stream}
    for name, status in (("ovms", 200), ("vllm", 400)):
        client = Client(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True)))
        assert client.ask("POST", "/v1/chat/completions", json=body).status_code == status


def test_the_scheme_of_keys_has_no_case_but_as_ovms() -> None:
    engine = ScriptedEngine()
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    for name, status in (("ovms", 500), ("vllm", 200)):
        settings = Settings(system=speaker(name, {"m": engine}, Limits(), named=True), keys=frozenset({"k"}))
        headers = {"authorization": "bearer k"}
        assert (
            Client(engine, settings).ask("POST", "/v1/chat/completions", json=body, headers=headers).status_code
            == status
        )


class Loading(ScriptedEngine):
    """Its model can't be asked about yet."""

    @property
    def model(self):
        raise EngineUnavailable("The model is loading.", retry_after=1)


@pytest.mark.parametrize("name", ["vllm", "sglang", "ollama"])
def test_a_model_that_is_loading_is_listed(name) -> None:
    engine = Loading()
    client = Client(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True)))
    model = client.ask("GET", "/v1/models").json()["data"][0]
    assert model["object"] == "model"
    assert model.get("max_model_len") is None


LIMITED = ["vllm", "llama-cpp", "ollama", "fastdeploy", "mlc-llm"]


@pytest.mark.parametrize("name", [*LIMITED, "sglang", "ovms", "openai"])
def test_a_token_limit_beyond_the_context(name) -> None:
    """Most systems end the answer where the context ends; the others refuse the request."""
    engine = ScriptedEngine(context_length=64)
    client = Client(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True)))
    body = {"model": "m", "messages": [{"role": "user", "content": "word " * 40}], "max_tokens": 60}  # it is repeated
    response = client.ask("POST", "/v1/chat/completions", json=body)
    if name not in LIMITED:
        assert response.status_code >= 400, response.text
        return
    answer = response.json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"] == 64


def test_as_vllm_more_tokens_than_the_whole_context_are_an_error() -> None:
    engine = ScriptedEngine(context_length=64)
    client = Client(engine, Settings(system=speaker("vllm", {"m": engine}, Limits(), named=True)))
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 65}
    refused = client.ask("POST", "/v1/chat/completions", json=body)
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "max_tokens is 65, but the context length is 64."
    # Of the two names, the newer counts.
    assert client.ask("POST", "/v1/chat/completions", json={**body, "max_completion_tokens": 8}).status_code == 200


@pytest.mark.parametrize("role", ["latest_reminder", "", None, ...])
def test_any_role_is_rendered_as_ollama(role) -> None:
    engine = ScriptedEngine()
    client = Client(engine, Settings(system=speaker("ollama", {"m": engine}, Limits(), named=True)))
    message = {"content": "Hi"} if role is ... else {"content": "Hi", "role": role}
    response = client.ask("POST", "/v1/chat/completions", json={"model": "m", "messages": [message]})
    assert response.status_code == 200, response.text
    assert response.json()["choices"][0]["message"]["content"] == "Hi"  # a user's message is repeated


class Recording(ScriptedEngine):
    """Keeps the settings of what it generates."""

    def generate(self, request):
        self.settings = request.sampling
        return super().generate(request)


def test_a_least_length_beyond_the_context_is_limited_too() -> None:
    """The engine's pipeline refuses a least length above the largest."""
    engine = Recording(context_length=64)
    client = Client(engine, Settings(system=speaker("vllm", {"m": engine}, Limits(), named=True)))
    body = {"model": "m", "prompt": "word " * 40, "max_tokens": 60, "min_tokens": 50}
    assert client.ask("POST", "/v1/completions", json=body).status_code == 200
    assert engine.settings.min_tokens == engine.settings.max_tokens < 50


def test_a_token_limit_beyond_the_context_of_several_prompts() -> None:
    engine = ScriptedEngine(context_length=64)
    client = Client(engine, Settings(system=speaker("vllm", {"m": engine}, Limits(), named=True)))
    body = {"model": "m", "prompt": ["word " * 40, "word " * 50, "Hi"], "max_tokens": 60}
    answer = client.ask("POST", "/v1/completions", json=body).json()
    assert [choice["finish_reason"] for choice in answer["choices"]] == ["length", "length", "stop"]
