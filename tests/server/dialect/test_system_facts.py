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
