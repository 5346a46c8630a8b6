"""Qwen Code without a terminal, with its own instructions and all its tools, on each API."""

import json
import re
import sys
from pathlib import Path

import pytest
from agents.scripts import QUESTION, WORD, holds_first_turn, settings, task

MCP_SERVER = Path(__file__).with_name("mcp_server.py")


@pytest.fixture
def qwen(request, exec_node, recorded):
    """Gives a prompt to the model; returns the messages that the agent prints. Its parameter is the agent's name of the
    API."""
    url, _ = recorded
    environment = dict(re.findall("^export (.+)=(.+)$", settings("qwen-code", url), re.MULTILINE))
    environment |= {
        "ANTHROPIC_BASE_URL": url.removesuffix("/v1"),
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_MODEL": "m",
        "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
    }
    servers = {"mcpServers": {"words": {"command": sys.executable, "args": [str(MCP_SERVER)]}}}
    options = ["--auth-type", getattr(request, "param", "openai"), "--output-format", "stream-json", "--yolo"]

    def run(prompt, *more):
        lines = exec_node(
            "@qwen-code/qwen-code/cli-entry.js",
            *options,
            *more,
            "--mcp-config",
            json.dumps(servers),
            prompt,
            **environment,
        )
        return [json.loads(line) for line in lines]

    return run


def blocks(messages, kind):
    """The blocks of a type in all messages, in order."""
    contents = [message["message"]["content"] for message in messages if message["type"] in ("assistant", "user")]
    return [block for content in contents for block in content if block["type"] == kind]


@pytest.mark.parametrize(
    "qwen", ["openai", "openai-responses", "anthropic"], ids=["chat", "responses", "messages"], indirect=True
)
def test_a_file_is_read_and_talked_about(qwen, recorded, work) -> None:
    path = str(work / "fruit.txt")
    messages = qwen(task("Please read it.", "read_file", file_path=path))
    (call,) = blocks(messages, "tool_use")
    assert (call["name"], call["input"]) == ("read_file", {"file_path": path})
    (result,) = blocks(messages, "tool_result")
    assert not result["is_error"]
    assert WORD in result["content"]
    assert messages[-1]["subtype"] == "success"
    assert WORD in messages[-1]["result"]

    messages = qwen(QUESTION, "--continue")
    assert messages[-1]["subtype"] == "success"
    _, bodies = recorded
    asked = [body for body in bodies if QUESTION in json.dumps(body)]
    assert holds_first_turn(asked[0])


def test_a_command_is_run(qwen, work) -> None:
    command = "echo written by qwen > note.txt"
    qwen(task("Please leave a note.", "run_shell_command", command=command, is_background=False))
    assert (work / "note.txt").read_text() == "written by qwen\n"


def test_a_tool_of_an_mcp_server_is_called(qwen) -> None:
    """The agent has a tool that shows such tools, and one that calls them."""
    name = "mcp__words__look_up"
    shown = task("Please look it up.", "tool_search", query=f"select:{name}")
    messages = qwen(shown + task("", "tool_call", name=name, arguments={"word": "apple"}))
    _, result = blocks(messages, "tool_result")
    assert "apple is a fruit" in result["content"]
    assert "fruit" in messages[-1]["result"]


def test_a_structured_output(qwen) -> None:
    """The agent has a tool for it, whose parameters are the schema."""
    schema = {"type": "object", "properties": {"fruit": {"type": "string"}}, "required": ["fruit"]}
    messages = qwen(task("Please say it.", "structured_output", fruit=WORD), "--json-schema", json.dumps(schema))
    assert messages[-1]["structured_result"] == {"fruit": WORD}
