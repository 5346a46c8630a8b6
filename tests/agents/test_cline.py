"""Cline's command line, with its own instructions and all its tools, on chat completions.

It continues a session only on a terminal: 3.0.65 refuses `--json --id SESSION PROMPT`, as if there was no prompt."""

import json

import pytest
from agents.scripts import WORD, task


@pytest.fixture
def cline(exec_node, recorded, home):
    """Gives a prompt to the model; returns the events that Cline prints."""
    url, _ = recorded
    data = ("--data-dir", str(home / "data"))
    exec_node("cline/bin/cline", "auth", *data, "-p", "openai", "-b", url, "-k", "none", "-m", "m")

    def run(*arguments):
        lines = exec_node("cline/bin/cline", *data, "--json", *arguments, CLINE_TELEMETRY_DISABLED="1")
        return [json.loads(line) for line in lines]

    return run


def test_a_file_is_read(cline, recorded, work) -> None:
    paths = [str(work / "fruit.txt")]
    lines = cline(task("Please read it.", "read_files", file_paths=paths))
    contents = [line["event"] for line in lines if line.get("event", {}).get("contentType") == "tool"]
    assert [(content["type"], content["toolName"]) for content in contents] == [
        ("content_start", "read_files"),
        ("content_end", "read_files"),
    ]
    assert contents[0]["input"] == {"file_paths": paths}
    assert WORD in contents[1]["output"][0]["result"]
    # The engine answers with the result, its words in some order, as no temperature is asked for.
    assert lines[-1]["finishReason"] == "completed"
    assert WORD in lines[-1]["text"]
    _, bodies = recorded
    assert bodies[-1]["messages"][-1]["role"] == "tool"
    assert WORD in json.dumps(bodies[-1]["messages"][-1])


def test_a_command_is_run(cline, work) -> None:
    cline(task("Please leave a note.", "run_commands", commands=["echo written by cline > note.txt"]))
    assert (work / "note.txt").read_text() == "written by cline\n"
