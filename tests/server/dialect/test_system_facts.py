"""What only this server knows of an answer."""

import re

import pytest
from support.app import Client

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
