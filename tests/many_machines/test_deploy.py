"""One API before many replicas: what clients see is what one server shows them."""

import asyncio
import os
import subprocess
import sys

import httpx
import pytest
from support.judging import judge
from support.replicas import SCRIPTED, deployed, replicas, slow, streaming
from support.serving import PATIENCE, Server, serving, wait_until


def test_the_judge_sees_no_difference(two: Server) -> None:
    with serving(*SCRIPTED) as one:
        alone = judge(one.url, dialect="openai", layers=("cases", "streams"))
    through = judge(two.url, dialect="openai", layers=("cases", "streams"))
    verdicts = [{line.rule: line.verdict for line in report.lines} for report in (alone, through)]
    assert verdicts[0] == verdicts[1]


def test_an_answer_has_one_request_id(two: Server) -> None:
    given = httpx.get(f"{two.url}/models", headers={"x-request-id": "mine"})
    made = httpx.get(f"{two.url}/models")
    assert given.headers.get_list("x-request-id") == ["mine"]
    assert made.headers.get_list("x-request-id")[0].startswith("req_")
    assert len(made.headers.get_list("x-request-id")) == 1


def test_an_id_that_can_not_stand_in_a_log_is_replaced(two: Server) -> None:
    answer = httpx.get(f"{two.url}/models", headers={"x-request-id": "a b"})
    (id,) = answer.headers.get_list("x-request-id")
    assert id.startswith("req_")


def test_more_replicas_come_with_work_and_beyond_them_requests_wait_or_are_refused() -> None:
    options = ("--autoscale", "1:2", "--max-num-seqs", "2", "--max-queue", "1")

    async def ask(server: Server) -> list[httpx.Response]:
        async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as client:
            bodies = [slow("/chat/completions", number, 100, delay=0.5) | {"stream": False} for number in range(8)]
            asked = [asyncio.create_task(client.post("/chat/completions", json=body)) for body in bodies]
            await asyncio.to_thread(wait_until, lambda: len(replicas(server)) == 2)
            return await asyncio.gather(*asked)

    with deployed(*SCRIPTED, *options) as server:
        answers = asyncio.run(ask(server))
    refused = [answer for answer in answers if answer.status_code != 200]
    assert 0 < len(refused) < len(answers)
    for answer in refused:
        assert answer.json()["error"]["code"] == "rate_limit_exceeded"
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")


def test_two_replicas_have_room_for_twice_as_many_streams(two: Server) -> None:
    """Each has room for 16: with one, half of 32 would begin when others have ended."""

    async def ask() -> int:
        bodies = [("/chat/completions", slow("/chat/completions", number, 100, delay=0.2)) for number in range(32)]
        async with streaming(two.url, bodies) as streams:
            return sum(stream.done() for stream in streams)

    assert asyncio.run(ask()) == 0


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ["--replicas", "2"],
            "with more than one replica, response_store must be a database that all of them can reach",
        ),
        (["--replicas", "2", "--response-store", "sqlite:///a.db"], "response_store must be a database"),
        (["--autoscale", "many"], "--autoscale"),
        (["--autoscale", "3:2"], "in 3:2 MIN is greater than MAX"),
        (["--model", "a"], "'a' is not of the form NAME=MODEL"),
        (["--draft-model", "a", "--prompt-lookup"], "--draft-model and --prompt-lookup can't be combined"),
        (["--tool-parser", "nobody"], "unknown format 'nobody'"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(options, reason) -> None:
    command = [sys.executable, "-m", "specvino.cli", "deploy", "--engine", "scripted", *options]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "300"}, check=False)
    assert run.returncode == 2
    assert reason in run.stderr


def test_without_a_key_no_other_machine_gets_in() -> None:
    command = [sys.executable, "-m", "specvino.cli", "deploy", *SCRIPTED, "--host", "0.0.0.0", "--port", "0"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "other machines can reach 0.0.0.0, so an API key is required" in run.stderr
