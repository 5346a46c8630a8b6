"""specvino conform, against servers that behave and servers that don't."""

import asyncio
import html
import json
import os
import re
import signal
import subprocess
import sys
from urllib.parse import quote

import pytest
from support.certificates import certificates
from support.judging import counted
from support.raw_server import TEXT, answer, chat, error, raw_server
from support.reports import HEADER
from support.serving import wait_until
from typer.testing import CliRunner

from specvino.cli import main
from specvino.conformance.fuzz import verdicts
from specvino.conformance.reports import ndjson
from specvino.conformance.verdict import Verdict

PLAIN = {"COLUMNS": "200", "SPECVINO_API_KEY": "", "OPENAI_API_KEY": ""}

ANSWERS = ("-f", "chat/basics/answers")


def conform(*arguments, **env):
    return CliRunner(env=PLAIN | env).invoke(main, ["conform", *map(str, arguments)])


async def well(asked):
    yield chat()


def one_line(run):
    """What a command that couldn't run says."""
    assert run.exit_code == 2
    assert isinstance(run.exception, SystemExit)
    assert re.fullmatch(r"specvino: [^\n]+\n", run.stderr)
    return run.stderr


# --- what it is


def test_help_tells_of_the_other_commands() -> None:
    run = conform("--help")
    assert run.exit_code == 0
    for word in ("--baseline", "conform diff", "conform matrix", "Exit codes"):
        assert word in run.stdout


def test_a_case_that_holds() -> None:
    with raw_server(well) as server:
        run = conform(server.url, *ANSWERS)
        verbose = conform(server.url, *ANSWERS, "-v")
        quiet = conform(server.url, *ANSWERS, "--quiet")
    assert run.exit_code == 0, run.output
    assert "chat/basics/answers" not in run.stdout
    assert "pass chat/basics/answers" in verbose.stdout
    assert (quiet.exit_code, quiet.output) == (0, "")
    assert re.search(r"^must: \d+ pass · 0 fail .*of \d+$", run.stdout, re.MULTILINE)


@pytest.mark.parametrize("arguments", [["-u", "URL"], ["--model", "m", "URL"], ["run", "URL"], ["URL/"]])
def test_the_url_may_stand_anywhere(arguments) -> None:
    with raw_server(well) as server:
        run = conform(*(each.replace("URL", server.url) for each in arguments), *ANSWERS)
    assert run.exit_code == 0, run.output


def test_the_model_is_the_first_that_is_listed() -> None:
    with raw_server(well) as server:
        conform(server.url, *ANSWERS)
    assert {json.loads(each.body)["model"] for each in server.asked if each.body} == {"m"}


@pytest.mark.parametrize("name", ["SPECVINO_API_KEY", "OPENAI_API_KEY"])
def test_the_key_comes_from_the_environment(name) -> None:
    with raw_server(well) as server:
        conform(server.url, *ANSWERS, **{name: "sk-from-environment"})
    assert {each.headers.get("authorization") for each in server.asked} == {"Bearer sk-from-environment"}


def test_the_list_needs_no_server() -> None:
    run = conform("--list", "-f", "models", "--profile", "core")
    assert run.exit_code == 0
    assert "models/list/served  " in run.stdout
    assert re.search(r"^\d+ cases; \d+ left out$", run.stdout, re.MULTILINE)


# --- findings


async def wrong(asked):
    """Every answer lacks its text."""
    yield answer(json.dumps({"id": "x", "object": "chat.completion", "created": 1700000000, "model": "m"}).encode())


def test_findings_are_exit_code_1(tmp_path) -> None:
    with raw_server(wrong) as server:
        run = conform(server.url, *ANSWERS)
    assert run.exit_code == 1
    assert re.search(r"^fail( \(should\))? chat/basics/answers", run.stdout, re.MULTILINE)
    assert f"POST {server.url}/chat/completions -> 200" in run.stdout
    assert "curl -sS -i -N" in run.stdout


def test_the_report_may_go_to_standard_output(tmp_path) -> None:
    with raw_server(wrong) as server:
        run = conform(server.url, *ANSWERS, "--json", "--ndjson", tmp_path / "r.ndjson")
        quiet = conform(server.url, *ANSWERS, "--json", "-q")
    assert run.exit_code == quiet.exit_code == 1
    assert run.stdout_bytes == (tmp_path / "r.ndjson").read_bytes()
    assert re.search(r"^fail( \(should\))? chat/basics/answers", run.stderr, re.MULTILINE)
    assert [json.loads(each)["kind"] for each in quiet.stdout.splitlines()][:2] == ["header", "result"]
    assert not quiet.stderr


def test_all_reports_of_one_run(tmp_path) -> None:
    files = {form: tmp_path / f"r.{form}" for form in ("junit", "sarif", "html", "markdown", "ndjson")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(wrong) as server:
        run = conform(server.url, *ANSWERS, *options)
    assert run.exit_code == 1
    for file in files.values():
        assert "chat/basics" in file.read_text("utf-8")
    report = ndjson.read(files["ndjson"])
    assert report.whole
    assert report.header.filters == ("chat/basics/answers",)
    assert report.footer is not None
    assert report.footer.requests == len(server.asked)


def test_all_traffic_of_a_run(tmp_path) -> None:
    def traffic(*options):
        with raw_server(well) as server:
            conform(server.url, *options, "--har", tmp_path / "t.har", "--ndjson", tmp_path / "r.ndjson")
        entries = json.loads((tmp_path / "t.har").read_text("utf-8"))["log"]["entries"]
        footer = ndjson.read(tmp_path / "r.ndjson").footer
        assert footer is not None
        assert len(entries) == footer.requests
        assert {each["request"]["method"] for each in entries} >= {"GET", "POST"}
        assert all(each["startedDateTime"] > "2026" for each in entries)
        return len(entries), len(server.asked)

    # Connections of a case's own are among it; of the fuzz not what it asks the server about itself.
    entries, asked = traffic(*ANSWERS, "-f", "transport/connections")
    assert entries == asked
    traffic("-f", "models/fuzz", "--max-time", "9")


def test_a_key_is_in_no_report(tmp_path) -> None:
    async def echoes(asked):
        yield answer(json.dumps({"you": asked.headers["authorization"]}).encode(), extra="X-You: sk-very-secret\r\n")

    files = {form: tmp_path / f"r.{form}" for form in ("junit", "sarif", "html", "markdown", "ndjson", "har")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(echoes) as server:
        run = conform(server.url, "-f", "chat/basics", "-k", "sk-very-secret", *options)
    assert run.exit_code == 1
    for text in (run.output, *(file.read_text("utf-8") for file in files.values())):
        assert "very-secret" not in text
    assert "redacted" in files["ndjson"].read_text("utf-8")


def test_a_key_that_is_echoed_with_escapes_is_in_no_report(tmp_path) -> None:
    key = "sk+very/secret"

    async def echoes(asked):
        said = asked.headers["authorization"].replace("+", "\\u002B").replace("/", "\\/").replace("v", "\\u0076")
        yield answer(f'{{"you": "{said}", "again": "{quote(key, safe="")}"}}'.encode())

    files = {form: tmp_path / f"r.{form}" for form in ("junit", "sarif", "html", "markdown", "ndjson", "har")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(echoes) as server:
        run = conform(server.url, "-f", "chat/basics", "-k", key, *options)
    assert run.exit_code == 1
    for text in (run.output, *(file.read_text("utf-8") for file in files.values())):
        assert "secret" not in html.unescape(text)
    assert "redacted" in files["html"].read_text("utf-8")


def test_headers_are_sent_and_are_in_no_report(tmp_path) -> None:
    async def echoes(asked):
        yield answer(json.dumps({"you": asked.headers["x-tenant-key"]}).encode(), extra="X-You: tenant-secret\r\n")

    given = ["--header", "X-Tenant-Key: Bearer tenant-secret", "--header", "X-Org: 1"]
    with raw_server(echoes) as server:
        run = conform(server.url, *ANSWERS, *given, "--html", tmp_path / "r.html", "--ndjson", tmp_path / "r.ndjson")
    assert {(each.headers["x-tenant-key"], each.headers["x-org"]) for each in server.asked} == {
        ("Bearer tenant-secret", "1")
    }
    assert run.exit_code == 1
    for text in (run.output, *(file.read_text("utf-8") for file in tmp_path.iterdir())):
        assert "tenant-secret" not in text
        assert "x-tenant-key: [redacted]" in text
        assert "x-org: 1" not in text


def test_a_key_may_go_in_a_header_of_its_own(tmp_path) -> None:
    async def azure(asked):
        if asked.headers.get("api-key") == "azure-secret-key":
            yield chat()
        else:
            said = asked.headers.get("api-key", "")[:12]
            yield error("401 Unauthorized", f"Access denied: '{said}'")

    given = ["-k", "azure-secret-key", "--auth-header", "Api-Key", "--ndjson", tmp_path / "r.ndjson"]
    with raw_server(azure) as server:
        run = conform(server.url, *ANSWERS, "-f", "transport/keys", "--dialect", "specvino", *given)
    assert not [each for each in server.asked if "authorization" in each.headers]
    report = ndjson.read(tmp_path / "r.ndjson")
    verdicts = {each.rule: each.verdict for each in report.lines}
    assert verdicts["chat/basics/answers"] == "pass"
    assert verdicts["transport/capabilities/auth"] == "pass"
    assert {rule: each for rule, each in verdicts.items() if rule.startswith("transport/keys/")} == {
        "transport/keys/missing": "pass",
        "transport/keys/streamed": "pass",
        "transport/keys/wrong": "pass",
        "transport/keys/other-scheme": "not-exercised",
        "transport/keys/empty": "not-exercised",
        "transport/keys/scheme-in-small-letters": "not-exercised",
        "transport/keys/challenge": "not-exercised",
    }
    for text in (run.output, (tmp_path / "r.ndjson").read_text("utf-8")):
        assert "azure-secret" not in text


def test_the_fuzz_sends_the_key_in_its_header() -> None:
    given = ["-k", "azure-secret-key", "--auth-header", "api-key", "--max-time", "5"]
    with raw_server(well) as server:
        conform(server.url, "-f", "models/fuzz/not-a-server-error", *given)
    assert len(server.asked) > 10
    assert {each.headers.get("api-key") for each in server.asked} == {"azure-secret-key"}
    assert not [each for each in server.asked if "authorization" in each.headers]


def test_the_heading_obeys_no_server() -> None:
    models = answer(b'{"object": "list", "data": [{"id": "\\u001b[2Jm", "object": "model"}]}')
    with raw_server(well, models) as server:
        run = conform(server.url, *ANSWERS)
    assert run.exit_code == 0, run.output
    assert "\x1b" not in run.output
    assert "\\x1b[2Jm" in run.stdout
    assert json.loads(server.asked[-1].body)["model"] == "\x1b[2Jm"


def test_a_certificate_of_ones_own(tmp_path) -> None:
    authority, certificate = certificates(tmp_path)
    with raw_server(well, tls=certificate) as server:
        assert "certificate verify failed" in one_line(conform(server.url, *ANSWERS))
        for how in (["--insecure"], ["--cacert", authority]):
            run = conform(server.url, *ANSWERS, *how)
            assert run.exit_code == 0, run.output


def test_a_baseline_accepts_what_is_known(tmp_path) -> None:
    baseline = tmp_path / "accepted.yaml"
    with raw_server(wrong) as server:
        assert conform(server.url, *ANSWERS, "--write-baseline", baseline).exit_code == 0
        run = conform(server.url, *ANSWERS, "--baseline", baseline)
    assert run.exit_code == 0
    assert "accepted by the baseline" in run.stdout
    with raw_server(well) as server:
        run = conform(server.url, *ANSWERS, "--baseline", baseline)
    assert run.exit_code == 0
    assert "no longer needed in the baseline: chat/basics/answers" in run.stdout
    with raw_server(well) as server:
        strict = conform(server.url, *ANSWERS, "--baseline", baseline, "--strict")
        assert strict.exit_code == 1
        # What is written anew has no such entries.
        assert conform(server.url, *ANSWERS, "--baseline", baseline, "--write-baseline", baseline).exit_code == 0
        assert conform(server.url, *ANSWERS, "--baseline", baseline, "--strict").exit_code == 0


def test_a_new_finding_is_not_in_the_baseline(tmp_path) -> None:
    async def otherwise_wrong(asked):
        yield answer(json.dumps({**TEXT, "choices": [{"index": 0, "message": {"role": "assistant"}}]}).encode())

    baseline = tmp_path / "accepted.yaml"
    with raw_server(wrong) as server:
        conform(server.url, *ANSWERS, "--write-baseline", baseline)
    with raw_server(otherwise_wrong) as server:
        run = conform(server.url, *ANSWERS, "--baseline", baseline)
    assert run.exit_code == 1
    assert "fail chat/rules/answer-shape" in run.stdout


def test_an_entry_of_no_rule_is_told(tmp_path) -> None:
    baseline = tmp_path / "accepted.yaml"
    baseline.write_text("accepted: {chat/basics/answer: {verdict: fail}}")
    with raw_server(well) as server:
        run = conform(server.url, *ANSWERS, "--baseline", baseline)
        asked = len(server.asked)
        strict = one_line(conform(server.url, *ANSWERS, "--baseline", baseline, "--strict"))
    assert run.exit_code == 0
    assert "in the baseline, but no rule: chat/basics/answer" in run.stdout
    assert "accepts what is no rule: chat/basics/answer" in strict
    assert len(server.asked) == asked


# --- filters


def rules_of(run):
    return [each["rule"] for each in map(json.loads, run.stdout.splitlines()) if each["kind"] == "result"]


@pytest.mark.parametrize(
    "rule", ["chat/rules/answer-shape", "chat/capabilities/json-object", "models/rules/answer-shape"]
)
def test_a_filter_may_name_what_no_case_is(rule) -> None:
    with raw_server(well) as server:
        run = conform(server.url, "--json", "-q", "--profile", "core", "-f", rule)
        both = conform(server.url, "--json", "-q", "--profile", "core", "-f", rule, *ANSWERS)
    assert rules_of(run) == [rule]
    assert sorted(rules_of(both)) == sorted(["chat/basics/answers", rule])


@pytest.mark.parametrize(("options", "layers"), [((), ["fuzz"]), (ANSWERS, ["cases", "streams", "fuzz"])])
def test_a_filter_that_names_the_fuzz_runs_it(options, layers) -> None:
    with raw_server(well) as server:
        run = conform(
            server.url,
            "--json",
            "-q",
            "-f",
            "models/fuzz/not-a-server-error",
            *options,
            "--max-time",
            "9",
            "--seed",
            "3",
        )
    assert json.loads(run.stdout.splitlines()[0])["layers"] == layers
    assert "models/fuzz/not-a-server-error" in rules_of(run)


# --- couldn't run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the URL of a server is missing"),
        (["localhost:8000"], "is no URL of a server"),
        (["http://"], "is no URL of a server"),
        (["http://[::1/v1"], "is no URL"),
        (["http://me:secret@127.0.0.1/v1"], "a name or a password"),
        (["http://127.0.0.1/v1?a=b"], "more than a path"),
        (["http://127.0.0.1:1/v1"], "no server answers at http://127.0.0.1:1/v1"),
        (["http://127.0.0.1:1/v1", "-k", "schlüssel"], "no header can carry"),
        (["http://127.0.0.1:1/v1", "-u", "http://127.0.0.1:2/v1"], "given twice"),
        (
            ["http://127.0.0.1:1/v1", "--dialect", "nobody"],
            "there is no dialect 'nobody'; there are fastdeploy,",
        ),
        (["http://127.0.0.1:1/v1", "-f", "chat/*", "-f", "no/such"], "the filter 'no/such' leaves no rule"),
        (["http://127.0.0.1:1/v1", "-f", "chat/rules/no-such"], "the filter 'chat/rules/no-such' leaves no rule"),
        (["http://127.0.0.1:1/v1", "-f", "chat/fuzz/no-such"], "the filter 'chat/fuzz/no-such' leaves no rule"),
        (["http://127.0.0.1:1/v1", "-f", "responses", "--dialect", "mlc-llm"], "nothing to judge: mlc-llm has no"),
        (["http://127.0.0.1:1/v1", "--baseline", "/no/such"], "/no/such can't be read: No such file"),
        (["http://127.0.0.1:1/v1", "--html", "/no/such"], "/no/such can't be written: No such file"),
        (["http://127.0.0.1:1/v1", "--html", "/tmp"], "/tmp can't be written: Is a directory"),
        (["http://127.0.0.1:1/v1", "--html", "/tmp/x-1", "--junit", "/tmp/x-1"], "name the same file"),
        (["http://127.0.0.1:99999/v1"], "there is no port 99999"),
        (["http://xn--a/v1"], "is no URL"),
        ([f"http://{'a' * 70}/v1"], "no server answers"),
        (["http://127.0.0.1:1/v1", "--header", "no-secret"], "--header 'Name: value'"),
        (["http://127.0.0.1:1/v1", "--header", "X: a\nb"], "no value that a header can carry"),
        (["http://127.0.0.1:1/v1", "--header", "Content-Type: a"], "each request's own"),
        (["http://127.0.0.1:1/v1", "-k", "sk", "--header", "Authorization: Basic a"], "the key is given twice"),
        (["http://127.0.0.1:1/v1", "--strict"], "entries of a baseline, which --baseline names"),
        (["http://127.0.0.1:1/v1", "-q", "-v"], "--quiet prints nothing, and --verbose everything"),
        (["http://127.0.0.1:1/v1", "--auth-header", "api-key"], "but there is no key"),
        (["http://127.0.0.1:1/v1", "-k", "sk", "--auth-header", "a b"], "'a b' is no name of a header"),
        (["http://127.0.0.1:1/v1", "-k", "sk", "--auth-header", "Connection"], "is no name of a header"),
        (["http://127.0.0.1:1/v1", "-k", "k", "--auth-header", "x", "--header", "X: a"], "the key is given twice"),
        (["https://127.0.0.1:1/v1", "--cacert", "/dev/null"], "holds no certificates"),
        (["https://127.0.0.1:1/v1", "--cacert", "/no/such"], "No such file"),
        (["https://127.0.0.1:1/v1", "--cacert", "/no/such", "--insecure"], "and --insecure that it isn't"),
        (["diff", "/no/such", "/no/such"], "/no/such can't be read: No such file"),
        (["matrix", "/dev/null"], "no whole line"),
    ],
)
def test_couldnt_run_is_one_line(arguments, words) -> None:
    assert words in one_line(conform(*arguments))


def test_a_broken_baseline_is_one_line(tmp_path) -> None:
    (tmp_path / "b.yaml").write_text("accepted: [")
    assert "is no baseline" in one_line(conform("http://127.0.0.1:1/v1", "--baseline", tmp_path / "b.yaml"))


def test_checking_a_file_does_not_make_it(tmp_path) -> None:
    one_line(conform("http://127.0.0.1:1/v1", "--html", tmp_path / "new.html"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("key", "words"), [((), "asks for a key"), (("-k", "sk-wrong-one"), "refuses the key")])
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
        assert "--model names one" in one_line(conform(server.url))
        assert conform(server.url, "-m", "m", *ANSWERS).exit_code == 0


def test_a_model_whose_name_is_no_text() -> None:
    half = r'{"id": "\ud800m", "object": "model"}'
    with raw_server(well, answer(f'{{"data": [{half}]}}'.encode())) as server:
        assert r"the model's name '\ud800m' is no text" in one_line(conform(server.url))
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
    assert "is not followed" in line
    assert other.url in line
    assert not other.asked


def test_what_is_no_http_server() -> None:
    with raw_server(well, b"SSH-2.0-OpenSSH_9.2\r\n") as server:
        assert "is no HTTP server" in one_line(conform(server.url))


def test_a_server_that_closes_at_once() -> None:
    with raw_server(well, b"") as server:
        assert "is no HTTP server" in one_line(conform(server.url))


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


# --- servers that misbehave while they are judged


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
        (_infinite, "longer than 8000000 bytes"),
        (_huge_event, "longer than 8000000 bytes"),
        (_no_text, "the stream is not UTF-8: invalid start byte at byte 13"),
        (_dies, "the connection broke"),
        (_closes, "the connection broke"),
        (_slow, "not whole after 0.5 s"),
        (_silent, "not whole after 0.5 s"),
        (_redirects, "307"),
        (_garbage, "the connection broke"),
        (_deep, "not JSON"),
        (_lone_surrogate, "the answer is 400, not 200"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
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
    assert "The server went away during" in output
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
    assert "is not ready after 1 s" in run.stderr
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
    assert "The time was up" in run.stdout
    # Nothing was judged, so nothing is known.
    assert run.exit_code == 2
    assert "nothing could be judged" in run.stderr


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
    assert run.stderr == "specvino: The time was up before all rules were judged.\n"
    for form in ("junit", "sarif", "html", "markdown"):
        assert "The time was up" in files[form].read_text("utf-8")


BOXED = "chat/fuzz/not-a-server-error"


def test_a_box_of_time_for_the_fuzz_is_green(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(verdicts, "FEWEST", 1)  # however slow the machine is
    with raw_server(well) as server:
        run = conform(
            server.url, "--layer", "fuzz", "-v", "-f", BOXED, "--max-time", "5", "--junit", tmp_path / "r.xml"
        )
    assert run.exit_code == 0, run.output
    assert re.search(r"pass chat/fuzz/requests: \d+ requests, .*; the time of [0-9.]+ s was up", run.stdout)
    assert "runs to its end" not in (tmp_path / "r.xml").read_text("utf-8")


# --- generated requests

GENERATED = ("--layer", "fuzz", "--profile", "core", "-f", BOXED)


async def failing(asked):
    yield answer(b"oh", "500 Internal Server Error") if asked.method == "POST" and b"messages" in asked.body else chat()


def test_a_report_says_how_its_requests_are_made_again(tmp_path) -> None:
    file = tmp_path / "r.ndjson"
    with raw_server(well) as server:
        run = conform(
            server.url,
            *GENERATED,
            *("--seed", 7, "--max-examples", 1, "--ndjson", file),
            *("--include-check", "not_a_server_error"),
        )
    assert "generated with --seed 7 --max-examples 1" in run.stdout
    generated = ndjson.read(file).header.generated
    assert generated is not None
    assert (generated.seed, generated.max_examples, generated.checks) == (7, 1, ("not_a_server_error",))
    # Nothing was proved by so few.
    assert run.exit_code == 2
    assert run.stderr == "specvino: nothing could be judged\n"
    assert counted(ndjson.read(file), Verdict.NOT_EXERCISED) == len(ndjson.read(file).lines) == 2


def test_a_finding_is_sent_again(tmp_path) -> None:
    before, after = tmp_path / "before.ndjson", tmp_path / "after.ndjson"
    with raw_server(failing) as server:
        assert conform(server.url, *GENERATED, "--ndjson", before).exit_code == 1
        asked = len(server.asked)
        run = conform("--replay", before, "-f", BOXED)
        assert run.exit_code == 1, run.output
        assert f"fail {BOXED}" in run.stdout
        (line,) = (each for each in ndjson.read(before).lines if each.rule == BOXED)
        shown = [(exchange.request.body or "").encode() for found in line.findings for exchange in found.exchanges]
        assert shown
        assert [each.body for each in server.asked[asked:] if each.body in shown] == shown
    with raw_server(well) as server:
        run = conform(server.url, "--replay", before, "--ndjson", after)
    assert run.exit_code == 0, run.output
    assert [(line.rule, line.verdict) for line in ndjson.read(after).lines] == [(BOXED, Verdict.PASS)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--seed", 1), "are for --layer fuzz"),
        (
            ("--layer", "fuzz", "--exclude-check", "no_such"),
            "there is no check 'no_such'; the checks are not_a_server_",
        ),
        (("--replay", "REPORT", "--seed", 1), "don't go with it"),
        (("--replay", "REPORT", "--dialect", "vllm"), "--dialect is vllm, but "),
        (("--replay", "REPORT"), "has no finding of the layer fuzz to send again"),
        (("--replay", "/no/such"), "/no/such can't be read"),
        (("--replay", "EMPTY"), "is no report of a run"),
    ],
)
def test_what_generated_requests_can_not_have(tmp_path, arguments, says) -> None:
    with ndjson.Writer(tmp_path / "REPORT") as writer:
        writer.write(HEADER)
    (tmp_path / "EMPTY").write_text("")
    words = [tmp_path / each if each in ("REPORT", "EMPTY") else each for each in arguments]
    assert says in one_line(conform("http://127.0.0.1:9/v1", *words))


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
    assert "The run was broken off." in output
    report = ndjson.read(names["ndjson"])
    assert report.lines
    assert not report.complete
    assert "The run was broken off." in names["html"].read_text("utf-8")
    assert "broken off" in names["junit"].read_text("utf-8")


# --- comparing runs


@pytest.fixture
def two(tmp_path):
    files = [tmp_path / "good.ndjson", tmp_path / "bad.ndjson"]
    for behaves, file in zip((well, wrong), files, strict=True):
        with raw_server(behaves) as server:
            conform(server.url, *ANSWERS, "--ndjson", file)
    return files


def test_diff_says_what_is_worse(two) -> None:
    good, bad = two
    run = conform("diff", good, bad)
    assert run.exit_code == 1
    assert "worse    chat/basics/answers: pass -> fail" in run.stdout
    assert re.search(r"^\d+ worse, 0 better, \d+ changed", run.stdout, re.MULTILINE)
    run = conform("diff", bad, good)
    assert run.exit_code == 0
    assert "better   chat/basics/answers: fail -> pass" in run.stdout
    assert conform("diff", bad, bad).exit_code == 0


def test_diff_refuses_runs_of_different_plans(two) -> None:
    good, bad = two
    bad.write_text(bad.read_text("utf-8").replace('"profile":"full"', '"profile":"core"'), "utf-8")
    line = one_line(conform("diff", good, bad))
    assert "are runs of different plans: profile is full, then core" in line


def test_diff_refuses_a_cut_file(two) -> None:
    good, bad = two
    bad.write_bytes(bad.read_bytes()[:-20])
    assert "can't be compared: The report has no end" in one_line(conform("diff", good, bad))


def test_matrix_makes_a_site(two, tmp_path) -> None:
    run = conform("matrix", *two, "-o", tmp_path / "site")
    assert run.exit_code == 0
    assert run.stdout.startswith("specvino: 2 servers side by side in ")
    assert {file.name for file in (tmp_path / "site").iterdir()} == {"index.html", "good.html", "bad.html"}


def test_matrix_into_a_file_is_one_line(two) -> None:
    assert "can't be written" in one_line(conform("matrix", *two, "-o", two[0] / "site"))


# --- checking baselines


def test_lint_knows_the_rules(tmp_path) -> None:
    baseline = tmp_path / "b.yaml"
    rules = (
        "chat/basics/answers",
        "chat/rules/answer-shape",
        "chat/capabilities/tools",
        "chat/fuzz/not-a-server-error",
    )
    baseline.write_text(json.dumps({"accepted": {rule: {"verdict": "fail"} for rule in rules}}))
    assert conform("lint", baseline).exit_code == 0
    baseline.write_text("accepted: {chat/basics/answer: {verdict: fail}, nowhere/rules/ids-unique: {verdict: fail}}")
    run = conform("lint", baseline)
    assert run.exit_code == 1
    assert run.stdout == (
        f"{baseline}: there is no rule chat/basics/answer; perhaps chat/basics/answers\n"
        f"{baseline}: there is no rule nowhere/rules/ids-unique\n"
    )


def test_lint_refuses_what_is_no_baseline(tmp_path) -> None:
    (tmp_path / "b.yaml").write_text("accepted: [1]")
    run = conform("lint", tmp_path / "b.yaml")
    assert run.exit_code == 1
    assert "is no baseline: accepted" in run.stdout
    assert "can't be read" in one_line(conform("lint", "/no/such"))


# --- what it needs


def test_the_base_install_will_do(tmp_path) -> None:
    """Neither OpenVINO nor Connexion, nor what else only the server has."""
    blocked = ["openvino", "openvino_genai", "connexion", "uvicorn", "uvloop", "sqlalchemy", "msgspec", "gguf"]
    script = f"""
import sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
from specvino.cli.main import app
app()
"""
    forms = [word for form in ("junit", "sarif", "html", "ndjson") for word in (f"--{form}", str(tmp_path / form))]
    with raw_server(well) as server:
        command = [sys.executable, "-c", script, "conform", server.url]
        run = subprocess.run([*command, *ANSWERS, *forms], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
