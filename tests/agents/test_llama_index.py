"""LlamaIndex's agent workflow (python/llama_index_job.py), streamed, on responses and on chat completions."""

import pytest
from agents.scripts import PLACE, QUESTION, WORD, holds_first_turn, task, write_word
from support.proxy import recording

WAYS = pytest.mark.parametrize("way", ["responses", "chat"])


@pytest.fixture(scope="module")
def ran(scripted_server, run_job, tmp_path_factory):
    """What happened, by way and job, and the bodies of the requests."""
    path = str(write_word(tmp_path_factory.mktemp("work")))
    with recording(scripted_server.url) as (url, bodies):
        lines = run_job("llama_index_job", url, task("Please read it.", "read_file", path=path), QUESTION)
        return {(line["way"], line["job"]): line for line in lines}, bodies


@WAYS
def test_a_file_is_read_and_talked_about(ran, way) -> None:
    answers, bodies = ran
    read = answers[way, "read"]
    assert read["results"] == [f"{WORD}\n"]
    assert read["text"] == f"{WORD}\n"
    assert read["deltas"] == ["Please", " read", " it.", "\n", WORD, "\n"]
    assert answers[way, "second turn"]["text"] == QUESTION
    of_way = [body for body in bodies if ("input" if way == "responses" else "messages") in body]
    # The request after two of the first turn: its call, and its result.
    assert holds_first_turn(of_way[2])


@WAYS
def test_a_structured_output(ran, way) -> None:
    assert ran[0][way, "object"]["object"] == PLACE
