"""OpenAI's Agents SDK, for Python (python/openai_agents_job.py) and JavaScript (node/openai_agents.mjs)."""

import pytest
from agents.scripts import PLACE, QUESTION, WORD, holds_first_turn, task, write_word
from support.proxy import recording

WAYS = pytest.mark.parametrize("way", ["responses", "chat"])


@pytest.fixture(scope="module", params=["python", "javascript"])
def ran(request, scripted_server, run_job, run_script, tmp_path_factory):
    """What happened, by way and job, and the bodies of the requests."""
    path = str(write_word(tmp_path_factory.mktemp("work")))
    arguments = (task("Please read it.", "read_file", path=path), QUESTION)
    with recording(scripted_server.url) as (url, bodies):
        if request.param == "python":
            lines = run_job("openai_agents_job", url, *arguments)
        else:
            lines = run_script("openai_agents.mjs", url, *arguments)
        return {(line["way"], line["job"]): line for line in lines}, bodies


@WAYS
def test_a_file_is_read_and_talked_about(ran, way) -> None:
    answers, bodies = ran
    read = answers[way, "read"]
    assert read["items"] == ["message_output_item", "tool_call_item", "tool_call_output_item", "message_output_item"]
    assert read["text"] == f"{WORD}\n"
    assert answers[way, "second turn"]["text"] == QUESTION
    of_way = [body for body in bodies if ("input" if way == "responses" else "messages") in body]
    # The request after two of the first turn: its call, and its result.
    assert holds_first_turn(of_way[2])


@WAYS
def test_the_same_streamed(ran, way) -> None:
    streamed = ran[0][way, "stream"]
    assert streamed["text"] == f"{WORD}\n"
    assert streamed["deltas"] == ["Please", " read", " it.", "\n", WORD, "\n"]


@WAYS
def test_a_structured_output(ran, way) -> None:
    assert ran[0][way, "object"]["object"] == PLACE
