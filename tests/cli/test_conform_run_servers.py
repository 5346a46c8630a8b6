"""specvino conform on servers that misbehave, are busy, or don't suit a client."""

import asyncio
import json
import os
import re
import subprocess
import sys

import pytest
from support.conforming import ANSWERS, conform, well
from support.judging import counted
from support.raw_server import TEXT, answer, chat, error, raw_server
from support.serving import wait_until

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
    assert report.complete
    assert report.footer is not None
    assert report.footer.lost


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
