"""specvino conform, against servers that behave: what it prints and writes."""

import html
import json
import re
import subprocess
import sys
from urllib.parse import quote

import pytest
from support.certificates import certificates
from support.conforming import ANSWERS, conform, one_line, well, wrong
from support.raw_server import TEXT, answer, chat, error, raw_server

from specvino.conformance.reports import ndjson

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
        run = conform(*(argument.replace("URL", server.url) for argument in arguments), *ANSWERS)
    assert run.exit_code == 0, run.output


def test_the_model_is_the_first_that_is_listed() -> None:
    with raw_server(well) as server:
        conform(server.url, *ANSWERS)
    assert {json.loads(request.body)["model"] for request in server.asked if request.body} == {"m"}


@pytest.mark.parametrize("name", ["SPECVINO_API_KEY", "OPENAI_API_KEY"])
def test_the_key_comes_from_the_environment(name) -> None:
    with raw_server(well) as server:
        conform(server.url, *ANSWERS, **{name: "sk-from-environment"})
    assert {request.headers.get("authorization") for request in server.asked} == {"Bearer sk-from-environment"}


def test_the_list_needs_no_server() -> None:
    run = conform("--list", "-f", "models", "--profile", "core")
    assert run.exit_code == 0
    assert "models/list/served  " in run.stdout
    assert re.search(r"^\d+ cases; \d+ skipped$", run.stdout, re.MULTILINE)


def test_an_api_is_a_part_of_the_list() -> None:
    def listed(*arguments: str) -> set[str]:
        run = conform("--list", *arguments)
        assert run.exit_code == 0, run.output
        return {line.split()[0] for line in run.stdout.splitlines() if re.match(r"\S+/\S+  ", line)}

    messages, chat = listed("--api", "messages"), listed("--api", "chat")
    assert {case.partition("/")[0] for case in messages} == {"messages", "count_tokens"}
    assert chat
    assert not messages & chat
    assert messages | chat <= listed("--api", "messages", "--api", "chat")
    assert {case.partition("/")[0] for case in listed("--api", "ollama")} == {"ollama_chat", "ollama_generate"}
    assert chat < listed("--api", "ollama", "--api", "chat", "--dialect", "specvino")


def test_two_apis_of_different_documents_need_a_dialect() -> None:
    run = conform("--list", "--api", "chat", "--api", "ollama")
    assert run.exit_code == 2
    assert "--api ollama can't be combined with other APIs" in run.output


def test_an_unknown_api_is_told_which_there_are() -> None:
    run = conform("--list", "--api", "claude")
    assert run.exit_code == 2
    assert "messages" in run.output


# --- findings


def test_findings_are_exit_code_1(tmp_path) -> None:
    with raw_server(wrong) as server:
        run = conform(server.url, *ANSWERS)
    assert run.exit_code == 1
    found = "^Answers lack `choices`\nfail chat/rules/answer-shape\n(?:  .*\n)+      chat/basics/answers *$"
    assert re.search(found, run.stdout, re.MULTILINE)
    assert f"POST {server.url}/chat/completions -> 200" in run.stdout
    assert "curl -sS -i -N" in run.stdout


def test_the_report_may_go_to_standard_output(tmp_path) -> None:
    with raw_server(wrong) as server:
        run = conform(server.url, *ANSWERS, "--json", "--ndjson", tmp_path / "r.ndjson")
        quiet = conform(server.url, *ANSWERS, "--json", "-q")
    assert run.exit_code == quiet.exit_code == 1
    assert run.stdout_bytes == (tmp_path / "r.ndjson").read_bytes()
    assert re.search(r"^fail chat/rules/answer-shape$", run.stderr, re.MULTILINE)
    assert [json.loads(line)["kind"] for line in quiet.stdout.splitlines()][:2] == ["header", "result"]
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
    assert report.covers_plan
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
        assert {entry["request"]["method"] for entry in entries} >= {"GET", "POST"}
        assert all(entry["startedDateTime"] > "2026" for entry in entries)
        return len(entries), len(server.asked)

    # Connections of a case's own are among it; of the fuzz not what it asks the server about itself, and of streams not
    # what is asked to see how long they take.
    entries, asked = traffic(*ANSWERS, "-f", "transport/connections/after*")
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
        echoed = asked.headers["authorization"].replace("+", "\\u002B").replace("/", "\\/").replace("v", "\\u0076")
        yield answer(f'{{"you": "{echoed}", "again": "{quote(key, safe="")}"}}'.encode())

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
    assert {(request.headers["x-tenant-key"], request.headers["x-org"]) for request in server.asked} == {
        ("Bearer tenant-secret", "1")
    }
    assert run.exit_code == 1
    for text in (run.output, *(file.read_text("utf-8") for file in tmp_path.iterdir())):
        assert "tenant-secret" not in text
        assert "x-tenant-key: [redacted]" in text
        assert "x-org: 1" not in text


def test_a_header_with_another_url_leaves_that_of_the_server(tmp_path) -> None:
    files = {form: tmp_path / f"r.{form}" for form in ("sarif", "html", "ndjson", "har")}
    options = [word for form, file in files.items() for word in (f"--{form}", file)]
    with raw_server(wrong) as server:
        upstream = server.url.replace("/v1", "9/v1")
        run = conform(server.url, *ANSWERS, "--header", f"X-Upstream: {upstream}", "-k", "sk-very-secret", *options)
    assert {request.headers["x-upstream"] for request in server.asked} == {upstream}
    assert f"{server.url}/chat/completions" in run.stdout
    (sarif,) = json.loads(files["sarif"].read_text("utf-8"))["runs"]
    assert f"curl -sS -i -N {server.url}/chat/completions" in sarif["results"][0]["message"]["text"]
    for text in (run.output, *(file.read_text("utf-8") for file in files.values())):
        assert upstream not in text
        assert server.url in text


def test_a_key_may_go_in_a_header_of_its_own(tmp_path) -> None:
    async def azure(asked):
        if asked.headers.get("api-key") == "azure-secret-key":
            yield chat()
        else:
            key = asked.headers.get("api-key", "")[:12]
            yield error("401 Unauthorized", f"Access denied: '{key}'")

    given = ["-k", "azure-secret-key", "--auth-header", "Api-Key", "--ndjson", tmp_path / "r.ndjson"]
    with raw_server(azure) as server:
        run = conform(server.url, *ANSWERS, "-f", "transport/keys", "--dialect", "specvino", *given)
    assert not [request for request in server.asked if "authorization" in request.headers]
    report = ndjson.read(tmp_path / "r.ndjson")
    verdicts = {line.rule: line.verdict for line in report.lines}
    assert verdicts["chat/basics/answers"] == "pass"
    assert verdicts["transport/capabilities/auth"] == "pass"
    assert {rule: verdict for rule, verdict in verdicts.items() if rule.startswith("transport/keys/")} == {
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
    assert {request.headers.get("api-key") for request in server.asked} == {"azure-secret-key"}
    assert not [request for request in server.asked if "authorization" in request.headers]


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
    assert "unknown rule in the baseline: chat/basics/answer" in run.stdout
    assert "contains unknown rules: chat/basics/answer" in strict
    assert len(server.asked) == asked


# --- filters


def rules_of(run):
    return [record["rule"] for record in map(json.loads, run.stdout.splitlines()) if record["kind"] == "result"]


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
