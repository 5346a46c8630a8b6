"""A crew of CrewAI (python/crewai_job.py) on chat completions: one task reads a file, another one gets what it read."""

import json

import pytest
from agents.scripts import PLACE, QUESTION, WORD, task, write_word
from support.proxy import recording


@pytest.fixture(scope="module")
def ran(scripted_server, run_job, tmp_path_factory):
    """What happened, by job, and the bodies of the requests."""
    path = str(write_word(tmp_path_factory.mktemp("work")))
    with recording(scripted_server.url) as (url, bodies):
        lines = run_job("crewai_job", url, task("Please read it.", "read_file", path=path), QUESTION)
        return {line["job"]: line for line in lines}, bodies


def test_a_file_is_read_and_talked_about(ran) -> None:
    answers, bodies = ran
    assert answers["read"]["text"] == f"{WORD}\n"
    _, result, second, _ = bodies
    assert [message["role"] for message in result["messages"]][-2:] == ["assistant", "tool"]
    assert WORD in result["messages"][-1]["content"]
    # The engine answers with the second task's prompt, which has what came of the first one.
    assert QUESTION in answers["second turn"]["text"]
    assert WORD in answers["second turn"]["text"]
    assert WORD in json.dumps(second)


def test_a_structured_output(ran) -> None:
    assert ran[0]["object"]["object"] == PLACE
