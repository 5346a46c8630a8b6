"""specvino conform where it can't run, and runs that are broken off."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import pytest
from support.conforming import ANSWERS, conform, one_line, well
from support.raw_server import answer, error, raw_server
from support.serving import wait_until

from specvino.conformance.reports import ndjson


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "a server URL is required"),
        (["localhost:8000"], "isn't the URL of a server"),
        (["http://"], "isn't the URL of a server"),
        (["http://[::1/v1"], "isn't a valid URL"),
        (["http://me:secret@127.0.0.1/v1"], "contains a user name or password"),
        (["http://127.0.0.1/v1?a=b"], "has a query or fragment"),
        (["http://127.0.0.1:1/v1"], "no server is reachable at http://127.0.0.1:1/v1"),
        (["http://127.0.0.1:1/v1", "-k", "schlüssel"], "aren't allowed in a header"),
        (["http://127.0.0.1:1/v1", "-u", "http://127.0.0.1:2/v1"], "the URL argument and --base-url differ"),
        (
            ["http://127.0.0.1:1/v1", "--dialect", "nobody"],
            "unknown dialect 'nobody'; available: fastdeploy,",
        ),
        (["http://127.0.0.1:1/v1", "-f", "chat/*", "-f", "no/such"], "the filter 'no/such' selects no rule"),
        (["http://127.0.0.1:1/v1", "-f", "chat/rules/no-such"], "the filter 'chat/rules/no-such' selects no rule"),
        (["http://127.0.0.1:1/v1", "-f", "chat/fuzz/no-such"], "the filter 'chat/fuzz/no-such' selects no rule"),
        (["http://127.0.0.1:1/v1", "--client", "nobody"], "unknown client 'nobody'; available: ai-sdk,"),
        (
            ["http://127.0.0.1:1/v1", "--client", "codex", "--api", "chat"],
            "--client selects the rules; it can't be",
        ),
        (["http://127.0.0.1:1/v1", "--client", "codex", "--dialect", "ovms"], "no server is reachable"),
        (["http://127.0.0.1:1/v1", "--client", "codex", "--dialect", "mlc-llm"], "Codex CLI uses /responses, which"),
        (["http://127.0.0.1:1/v1", "-f", "responses", "--dialect", "mlc-llm"], "nothing to test: mlc-llm has no"),
        (["http://127.0.0.1:1/v1", "--baseline", "/no/such"], "/no/such can't be read: No such file"),
        (["http://127.0.0.1:1/v1", "--html", "/no/such"], "/no/such can't be written: No such file"),
        (["http://127.0.0.1:1/v1", "--html", "/tmp"], "/tmp can't be written: Is a directory"),
        (["http://127.0.0.1:1/v1", "--html", "/tmp/x-1", "--junit", "/tmp/x-1"], "write to the same file"),
        (["http://127.0.0.1:99999/v1"], "port 99999 is above 65535"),
        (["http://xn--a/v1"], "isn't a valid URL"),
        ([f"http://{'a' * 70}/v1"], "no server is reachable"),
        (["http://127.0.0.1:1/v1", "--header", "no-secret"], "--header requires the form 'Name: value'"),
        (["http://127.0.0.1:1/v1", "--header", "X: a\nb"], "the header x has an empty value, or characters"),
        (["http://127.0.0.1:1/v1", "--header", "Content-Type: a"], "is set by the cases"),
        (["http://127.0.0.1:1/v1", "-k", "sk", "--header", "Authorization: Basic a"], "the key is given twice"),
        (["http://127.0.0.1:1/v1", "--strict"], "--strict requires --baseline"),
        (["http://127.0.0.1:1/v1", "-q", "-v"], "--quiet and --verbose can't be combined"),
        (["http://127.0.0.1:1/v1", "--auth-header", "api-key"], "--auth-header requires a key"),
        (["http://127.0.0.1:1/v1", "-k", "sk", "--auth-header", "a b"], "'a b' isn't a header name"),
        (["http://127.0.0.1:1/v1", "-k", "sk", "--auth-header", "Connection"], "isn't a header name"),
        (["http://127.0.0.1:1/v1", "-k", "k", "--auth-header", "x", "--header", "X: a"], "the key is given twice"),
        (["https://127.0.0.1:1/v1", "--cacert", "/dev/null"], "has no readable certificates"),
        (["https://127.0.0.1:1/v1", "--cacert", "/no/such"], "No such file"),
        (["https://127.0.0.1:1/v1", "--cacert", "/no/such", "--insecure"], "--cacert and --insecure can't be combined"),
        (["diff", "/no/such", "/no/such"], "/no/such can't be read: No such file"),
        (["matrix", "/dev/null"], "no complete line"),
    ],
)
def test_couldnt_run_is_one_line(arguments, words) -> None:
    assert words in one_line(conform(*arguments))


def test_a_broken_baseline_is_one_line(tmp_path) -> None:
    (tmp_path / "b.yaml").write_text("accepted: [")
    assert "isn't a baseline" in one_line(conform("http://127.0.0.1:1/v1", "--baseline", tmp_path / "b.yaml"))


def test_checking_a_file_does_not_make_it(tmp_path) -> None:
    one_line(conform("http://127.0.0.1:1/v1", "--html", tmp_path / "new.html"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("key", "words"), [((), "requires a key"), (("-k", "sk-wrong-one"), "rejects the key")])
@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_wrong_key(key, words, status, listed) -> None:
    refusal = error(status, "the key sk-wrong-one\nis wrong")

    async def refuses(asked):
        yield refusal

    # Some servers show their models to everybody.
    with raw_server(refuses, None if listed else refusal) as server:
        line = one_line(conform(server.url, *key))
    assert words in line
    assert status[:3] in line
    assert not key or "sk-wrong" not in line


def test_a_wrong_model_tells_which_are_there() -> None:
    async def refuses(asked):
        yield error("404 Not Found", "no such model")

    with raw_server(refuses) as server:
        line = one_line(conform(server.url, "-m", "gpt-9"))
    assert "has no model 'gpt-9'" in line
    assert "no such model); it lists m" in line


def test_a_model_that_answers_need_not_be_listed() -> None:
    with raw_server(well) as server:
        assert conform(server.url, "-m", "alias", *ANSWERS).exit_code == 0


@pytest.mark.parametrize(
    "models", [error("404 Not Found", "no"), answer(b"no JSON"), answer(b'{"data": [{"id": 1}, 2]}'), answer(b"[]")]
)
def test_a_server_that_lists_no_models_needs_a_name(models) -> None:
    with raw_server(well, models) as server:
        assert "; set --model" in one_line(conform(server.url))
        assert conform(server.url, "-m", "m", *ANSWERS).exit_code == 0


def test_a_model_whose_name_is_no_text() -> None:
    half = r'{"id": "\ud800m", "object": "model"}'
    with raw_server(well, answer(f'{{"data": [{half}]}}'.encode())) as server:
        assert r"the model's name '\ud800m' can't be encoded" in one_line(conform(server.url))
    with raw_server(well, answer(f'{{"data": [{half}, {{"id": "m"}}]}}'.encode())) as server:
        assert conform(server.url, *ANSWERS).exit_code == 0
    assert json.loads(server.asked[-1].body)["model"] == "m"


def test_a_url_without_its_path_is_told() -> None:
    async def elsewhere(asked):
        yield error("404 Not Found", "no")

    with raw_server(elsewhere, below="/v1") as server:
        line = one_line(conform(server.url.removesuffix("/v1")))
    assert line.endswith(f"but at {server.url}\n")


@pytest.mark.parametrize("code", ["301 Moved Permanently", "307 Temporary Redirect"])
def test_redirects_are_not_followed(code) -> None:
    with raw_server(well) as other:
        to = answer(b"", code, extra=f"Location: {other.url}/models\r\n")
        with raw_server(well, to) as server:
            line = one_line(conform(server.url))
    assert "aren't followed" in line
    assert other.url in line
    assert not other.asked


def test_what_is_no_http_server() -> None:
    with raw_server(well, b"SSH-2.0-OpenSSH_9.2\r\n") as server:
        assert "isn't an HTTP server" in one_line(conform(server.url))


def test_a_server_that_closes_at_once() -> None:
    with raw_server(well, b"") as server:
        assert "isn't an HTTP server" in one_line(conform(server.url))


def test_a_full_disk_is_one_line() -> None:
    with raw_server(well) as server:
        for form in ("ndjson", "html", "junit", "sarif", "markdown", "badge", "har"):
            run = conform(server.url, *ANSWERS, f"--{form}", "/dev/full")
            assert "/dev/full can't be written: No space left" in one_line(run)


def test_a_full_terminal_is_one_line() -> None:
    # In a process of its own: what the buffer still holds must not fail once more when Python ends.
    command = [sys.executable, "-m", "specvino.cli", "conform"]
    with raw_server(well) as server, open("/dev/full", "w") as full:
        for arguments in ([server.url, *ANSWERS], ["--list"]):
            run = subprocess.run([*command, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
            assert run.returncode == 2
            assert run.stderr == "specvino: standard output can't be written: No space left on device\n"


@pytest.fixture
def interruptible():
    """Children mind Ctrl-C, also where the tests run in the background of a shell, which has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_broken_off_leaves_what_it_found(tmp_path, number, interruptible) -> None:
    names = {form: tmp_path / f"r.{form}" for form in ("ndjson", "html", "junit")}
    options = [str(word) for form, file in names.items() for word in (f"--{form}", file)]
    command = [sys.executable, "-m", "specvino.cli", "conform", *options, "-f", "chat", "--timeout", "90"]

    async def first(asked):
        if len(server.asked) > 12:  # the handshake and some cases are answered
            await asyncio.Event().wait()
        async for piece in well(asked):
            yield piece

    with raw_server(first) as server:
        process = subprocess.Popen(
            [*command, server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
        )
        wait_until(lambda: names["ndjson"].exists() and b'"result"' in names["ndjson"].read_bytes())
        process.send_signal(number)
        output, problems = process.communicate(timeout=300)
    assert process.returncode == (2 if number == signal.SIGINT else 143), output + problems
    assert problems == ("specvino: interrupted\n" if number == signal.SIGINT else "")
    assert "The run was interrupted." in output
    report = ndjson.read(names["ndjson"])
    assert report.lines
    assert not report.complete
    assert "The run was interrupted." in names["html"].read_text("utf-8")
    assert "interrupted" in names["junit"].read_text("utf-8")
