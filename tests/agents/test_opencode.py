"""opencode in `run` mode, with its own instructions and all its tools, on each API."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from agents.scripts import QUESTION, WORD, holds_first_turn, settings, task
from support.node import installed

NODE = Path(__file__).parent / "node"


@pytest.fixture(scope="module")
def binary():
    """The first one for this system that runs: npm installs one for processors with AVX2, and one for those without."""
    candidates = sorted(installed(NODE).glob("opencode-*-*/bin/opencode*"))
    return next(
        candidate
        for candidate in candidates
        if subprocess.run([candidate, "--version"], stdout=subprocess.DEVNULL, check=False).returncode == 0
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """One for all tests: at its first start, opencode downloads the package of its plugins there."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def opencode(request, binary, recorded, home, work):
    """Gives a prompt to the model; returns the events that opencode prints. Its parameter is a package of the
    AI SDK, by which it speaks to the server in place of the page's."""
    url, _ = recorded
    config = json.loads(settings("opencode", url))
    if hasattr(request, "param"):
        config["provider"]["specvino"]["npm"] = request.param
    config["permission"] = "allow"
    config["mcp"] = {"words": {"type": "local", "command": [sys.executable, str(NODE.with_name("mcp_server.py"))]}}
    environment = {
        "HOME": str(home),
        "PWD": str(work),
        **{f"XDG_{kind}_HOME": str(home / kind) for kind in ("CACHE", "CONFIG", "DATA", "STATE")},
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }

    def run(prompt, *options):
        ran = subprocess.run(
            [binary, "run", "--format", "json", *options],
            cwd=work,
            env=os.environ | environment,
            input=prompt,
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
            check=True,
        )
        return [json.loads(line)["part"] for line in ran.stdout.splitlines()]

    return run


def called(parts):
    """Name, arguments and output of each call."""
    calls = [part for part in parts if part["type"] == "tool"]
    return [(call["tool"], call["state"]["input"], call["state"].get("output")) for call in calls]


def texts(parts):
    return [part["text"] for part in parts if part["type"] == "text"]


@pytest.mark.parametrize(
    "opencode",
    ["@ai-sdk/openai-compatible", "@ai-sdk/openai", "@ai-sdk/anthropic"],
    ids=["chat", "responses", "messages"],
    indirect=True,
)
def test_a_file_is_read_and_talked_about(opencode, recorded, work) -> None:
    path = str(work / "fruit.txt")
    parts = opencode(task("Please read it.", "read", filePath=path))
    ((name, arguments, output),) = called(parts)
    assert (name, arguments) == ("read", {"filePath": path})
    assert WORD in output
    # The engine answers with the result, its words in some order, as no temperature is asked for.
    assert WORD in texts(parts)[-1]
    assert [part["reason"] for part in parts if part["type"] == "step-finish"] == ["tool-calls", "stop"]

    parts = opencode(QUESTION, "--continue")
    assert called(parts) == []
    _, bodies = recorded
    assert holds_first_turn(bodies[-1])


def test_a_command_is_run(opencode, work) -> None:
    command = "echo written by opencode > note.txt"
    opencode(task("Please leave a note.", "bash", command=command, description="Leaves a note"))
    assert (work / "note.txt").read_text() == "written by opencode\n"


def test_a_tool_of_an_mcp_server_is_called(opencode) -> None:
    parts = opencode(task("Please look it up.", "words_look_up", word="apple"))
    assert called(parts) == [("words_look_up", {"word": "apple"}, "apple is a fruit")]
    assert "fruit" in texts(parts)[-1]
