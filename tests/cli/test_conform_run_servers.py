"""specvino conform on servers that misbehave, are busy, or don't suit a client."""

import asyncio
import json
import os
import re
import subprocess
import sys

import pytest
from support.conforming import ANSWERS, conform, one_line, well
from support.judging import counted
from support.raw_server import TEXT, answer, chat, error, raw_server
from support.serving import wait_until

from specvino.conformance.python_api import WRITERS
from specvino.conformance.reports import ndjson
from specvino.conformance.verdict import Verdict


def stream(body, length=None):
    size = "" if length is None else f"Content-Length: {length}\r\n"
    return f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{size}\r\n".encode() + body


async def _infinite(asked):
    yield stream(b"")
    while True:
        yield b"data: {}\n\n" * 20_000


async def _huge_event(asked):
    yield stream(b'data: {"x": "')
    for _ in range(100):
        yield b"x" * 100_000
    yield b'"}\n\ndata: [DONE]\n\n'


async def _no_text(asked):
    yield stream(b'data: {"x": "\xff\xfe\x80"}\n\ndata: [DONE]\n\n')


async def _dies(asked):
    yield stream(b'data: {"id": "x"', length=1000)


async def _closes(asked):
    for content in list[bytes]():
        yield content


async def _slow(asked):
    yield stream(b"")
    while True:
        yield b": still here\n\n"
        await asyncio.sleep(0.05)


async def _silent(asked):
    await asyncio.Event().wait()
    yield b""


async def _redirects(asked):
    yield answer(b"", "307 Temporary Redirect", extra="Location: http://127.0.0.1:9/v1/chat/completions\r\n")


async def _garbage(asked):
    yield b"\x00\x01\x02 not HTTP\r\n\r\n"


async def _deep(asked):
    yield answer(b"[" * 200_000)


async def _lone_surrogate(asked):
    yield answer(b'{"error": {"message": "\\ud800 \\u001b[31m", "type": "x", "param": null, "code": null}}', "400 No")


@pytest.mark.parametrize(
    ("behaves", "words"),
    [
        (_infinite, "exceeds 8000000 bytes"),
        (_huge_event, "exceeds 8000000 bytes"),
        (_no_text, "the stream isn't UTF-8: invalid start byte at byte 13"),
        (_dies, "the connection broke"),
        (_closes, "the connection broke"),
        (_slow, "wasn't complete after 0.5 s"),
        (_silent, "wasn't complete after 0.5 s"),
        (_redirects, "307"),
        (_garbage, "the connection broke"),
        (_deep, "isn't JSON"),
        (_lone_surrogate, "the answer is 400, not 200"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_a_server_does_wrong_is_a_finding(tmp_path, behaves, words) -> None:
    seconds = "0.5" if "after 0.5 s" in words else "60"
    reports = ["--ndjson", tmp_path / "r.ndjson", "--html", tmp_path / "r.html", "--junit", tmp_path / "r.xml"]
    with raw_server(behaves) as server:
        run = conform(server.url, "-m", "m", *ANSWERS, "-f", "chat/streams/plain", "-v", "--timeout", seconds, *reports)
    assert run.exit_code == 1, run.output
    assert re.search(r"^fail( \(should\))? chat/basics/answers", run.stdout, re.MULTILINE)
    assert words in run.stdout
    assert "error chat/" not in run.stdout
    assert not counted(ndjson.read(tmp_path / "r.ndjson"), Verdict.ERROR)


def test_a_server_that_goes_away_is_told(tmp_path) -> None:
    """It answers twice, and then nobody listens any more."""
    with raw_server(well) as server:
        command = [sys.executable, "-m", "specvino.cli", "conform", server.url, "--ndjson", str(tmp_path / "r.ndjson")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ)
        wait_until(lambda: len(server.asked) > 4)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 1, output
    assert "The server became unreachable during" in output
    report = ndjson.read(tmp_path / "r.ndjson")
    assert report.footer is not None
    assert report.footer.lost
    assert not report.complete
    compared = conform("diff", tmp_path / "r.ndjson", tmp_path / "r.ndjson")
    assert compared.exit_code == 2
    assert "can't be compared: The server became unreachable during" in compared.stderr


def test_a_model_that_is_loading_is_waited_for() -> None:
    async def loading(asked):
        if len(server.asked) < 4:
            yield error("503 Service Unavailable", "The model is loading.")
        else:
            yield chat()

    with raw_server(loading) as server:
        run = conform(server.url, *ANSWERS)
    assert run.exit_code == 0, run.output


def test_a_model_that_never_loads_is_one_line() -> None:
    async def loading(asked):
        yield error("503 Service Unavailable", "The model is loading.")

    with raw_server(loading) as server:
        run = conform(server.url, *ANSWERS, "--timeout", "1")
    assert run.exit_code == 2
    assert "isn't ready after 1 s" in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    turns = []

    async def busy(asked):
        turns.append(asked)
        yield error("429 Too Many", "wait", "Retry-After: 0\r\n") if len(turns) % 2 else chat()

    with raw_server(busy) as server:
        run = conform(server.url, *ANSWERS)
    assert run.exit_code == 0, run.output
    assert len(turns) >= 4


@pytest.mark.parametrize("before", [0, 8])
@pytest.mark.parametrize("message", ["wait", None])
def test_a_server_that_refuses_everything_with_429_ends_the_run(tmp_path, before, message) -> None:
    """From the start or from some request on, with an error of the right shape or of none."""
    refusal = error("429 Too Many", message) if message else answer(b"<p>no</p>", "429 Too Many", "text/html")

    async def limiting(asked):
        yield chat() if len(server.asked) <= before else refusal

    files = {form: tmp_path / f"r.{form}" for form in (*WRITERS, "har")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(limiting) as server:
        run = conform(server.url, *options)
    assert run.exit_code == 2, run.output
    assert "The server refuses every request with 429 since " in run.stderr
    # Each of the cases that run at once asks a few times more.
    assert len(server.asked) < before + 60
    report = ndjson.read(files["ndjson"])
    assert report.footer is not None
    assert report.footer.limited
    assert counted(report, Verdict.SKIP) > 100
    for form in ("junit", "sarif", "html", "markdown"):
        assert "refuses every request with 429" in files[form].read_text("utf-8")
    assert json.loads(files["badge"].read_text("utf-8"))["message"] == "not judged"


def test_a_429_to_one_request_is_its_answer(tmp_path) -> None:
    async def no_streams(asked):
        yield error("429 Too Many", "no streams") if b'"stream": true' in asked.body else chat()

    with raw_server(no_streams) as server:
        run = conform(server.url, *ANSWERS, "-f", "chat/streams/plain", "--ndjson", tmp_path / "r.ndjson")
    assert run.exit_code == 1, run.output
    report = ndjson.read(tmp_path / "r.ndjson")
    assert report.covers_plan
    verdicts = {line.rule: line.verdict for line in report.lines}
    assert (verdicts["chat/basics/answers"], verdicts["chat/streams/plain"]) == (Verdict.PASS, Verdict.FAIL)


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "502 Bad Gateway"])
@pytest.mark.parametrize("options", [(), ("-m", "m")])
def test_a_server_with_only_pages_is_no_api(status, options) -> None:
    page = answer(b"<!doctype html><title>Hello</title>", status, "text/html; charset=utf-8")

    async def pages(asked):
        yield page

    with raw_server(pages, page) as server:
        line = one_line(conform(server.url, *options))
    assert line == f"specvino: no API is at {server.url}: it has only HTML pages\n"


def test_a_server_without_a_list_may_have_a_page_there() -> None:
    page = answer(b"<!doctype html><title>Hello</title>", "404 Not Found", "text/html")
    with raw_server(well, page) as server:
        assert "lists no models" in one_line(conform(server.url))
        assert conform(server.url, "-m", "m", *ANSWERS).exit_code == 0


def test_the_time_allowed_ends_a_run(tmp_path) -> None:
    with raw_server(_slow) as server:
        run = conform(server.url, "-m", "m", "--max-time", "1", "--timeout", "1", "--ndjson", tmp_path / "r.ndjson")
    report = ndjson.read(tmp_path / "r.ndjson")
    assert report.footer is not None
    assert report.footer.time_up
    assert report.complete
    assert "The time limit was reached" in run.stdout
    # Nothing was judged, so nothing is known.
    assert run.exit_code == 2
    assert "no rule could be judged" in run.stderr


def test_a_run_that_the_time_cut_is_not_green(tmp_path) -> None:
    """Some cases have passed, and the others haven't run."""

    async def slowing(asked):
        if b'"stream": true' in asked.body:
            await asyncio.Event().wait()
        yield answer(json.dumps(TEXT | {"id": f"chatcmpl-{len(server.asked)}"}).encode())

    files = {form: tmp_path / f"r.{form}" for form in ("junit", "sarif", "html", "markdown", "ndjson")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(slowing) as server:
        run = conform(server.url, *ANSWERS, "-f", "chat/streams/plain", "--max-time", "1", *options)
    report = ndjson.read(files["ndjson"])
    assert counted(report, Verdict.FAIL) == 0
    assert counted(report, Verdict.PASS) > 0
    assert run.exit_code == 2, run.output
    assert run.stderr == "specvino: The time limit was reached before all rules were checked.\n"
    for form in ("junit", "sarif", "html", "markdown"):
        assert "The time limit was reached" in files[form].read_text("utf-8")


def test_a_server_that_a_client_does_not_work_with(tmp_path) -> None:
    with raw_server(well) as server:  # it has chat only
        made = conform(server.url, "--client", "openai-agents", "--markdown", tmp_path / "r.md")
    assert made.exit_code == 1
    head, _, shown = made.stdout.partition("openai-agents 0.24: ")
    assert head
    assert shown.startswith("NOT READY\n  needs lacks Its agents call functions, and their results refer to the ids")
    assert "responses/capabilities/tools: " in shown
    assert "  uses  ok    OpenAIChatCompletionsModel uses chat completions.\n" in shown
    assert "openai\\-agents 0.24: NOT READY" in (tmp_path / "r.md").read_text("utf-8")
