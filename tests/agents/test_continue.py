"""Continue's command line without a terminal, with its own instructions and all its tools, on chat completions."""

import pytest
from agents.scripts import QUESTION, WORD, holds_first_turn, settings, task


@pytest.fixture
def cn(exec_node, recorded, home):
    """Gives a prompt to the model; returns what the agent prints."""
    url, _ = recorded
    config = home / "config.yaml"
    config.write_text(settings("continue", url))

    def run(prompt, *options):
        printed = exec_node(
            "@continuedev/cli/dist/cn.js",
            *("--config", str(config), "--auto", "--print", *options, prompt),
            CONTINUE_TELEMETRY_ENABLED="0",
        )
        return "\n".join(printed)

    return run


def test_a_file_is_read_and_talked_about(cn, recorded, work) -> None:
    # The engine answers with the result, its words in some order, as no temperature is asked for.
    assert WORD in cn(task("Please read it.", "Read", filepath=str(work / "fruit.txt")))
    _, bodies = recorded
    assert [message["role"] for message in bodies[-1]["messages"]][-3:] == ["user", "assistant", "tool"]
    assert WORD in bodies[-1]["messages"][-1]["content"]

    cn(QUESTION, "--resume")
    assert holds_first_turn(bodies[-1])


def test_a_command_is_run(cn, work) -> None:
    cn(task("Please leave a note.", "Bash", command="echo written by continue > note.txt"))
    assert (work / "note.txt").read_text() == "written by continue\n"
