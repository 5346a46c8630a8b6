"""specvino conform parity."""

import json

import pytest
from support.conforming import ANSWERS, conform, one_line, well, wrong
from support.raw_server import TEXT, answer, error, raw_server

from specvino.conformance.reports.ndjson import read

KEY = "sk-secret-of-a-4711"


@pytest.fixture
def good():
    with raw_server(well) as server:
        yield server.url


@pytest.fixture
def bad():
    with raw_server(wrong) as server:
        yield server.url


def test_equal_servers(good) -> None:
    run = conform("parity", good, good, *ANSWERS)
    assert run.exit_code == 0, run.stdout
    assert "0 differences\n" in run.stdout
    assert "differs" not in run.stdout


def test_a_difference_has_a_pair_of_commands(good, bad) -> None:
    run = conform("parity", good, bad, *ANSWERS)
    assert run.exit_code == 1
    assert f"A: m at {good}; B: m at {bad}" in run.stdout
    shown = run.stdout.partition("differs chat/parity/field\n")[2].splitlines()
    assert shown[0] == "  only at A, a list: choices"
    assert shown[1] == "  only at A, an object: usage"
    assert shown[2] == "  in 1 request, first of chat/basics/answers"
    assert f"curl -sS -i -N {good}/chat/completions" in shown[3]
    assert f"curl -sS -i -N {bad}/chat/completions" in shown[4]
    assert "differs chat/rules/answer-shape\n  pass at A, fail at B: " in run.stdout


def test_a_baseline_accepts_differences(good, bad, tmp_path) -> None:
    file = tmp_path / "known.yaml"
    assert conform("parity", good, bad, *ANSWERS, "--write-baseline", file).exit_code == 0
    assert "chat/parity/field/choices:" in file.read_text("utf-8")
    run = conform("parity", good, bad, *ANSWERS, "--baseline", file)
    assert run.exit_code == 0
    assert "differs" not in run.stdout
    assert "0 differences, " in run.stdout
    assert (
        "differs chat/parity/field accepted" in conform("parity", good, bad, *ANSWERS, "-v", "--baseline", file).stdout
    )
    run = conform("parity", good, good, *ANSWERS, "--baseline", file)
    assert "no longer needed in the baseline: chat/parity/field/choices" in run.stdout


def test_reports_have_a_line_for_each_difference(good, bad, tmp_path) -> None:
    files = {name: tmp_path / name for name in ("ndjson", "junit", "html", "markdown")}
    run = conform("parity", good, bad, *ANSWERS, "-q", *(word for name in files for word in (f"--{name}", files[name])))
    assert (run.exit_code, run.stdout) == (1, "")
    lines = {line.rule: line for line in read(files["ndjson"]).lines}
    assert lines["chat/parity/field/choices"].fails
    assert lines["chat/parity/status"].verdict == "pass"
    for name in ("junit", "html", "markdown"):
        assert "choices" in files[name].read_text("utf-8"), name
        assert "is only at A, a list" in files[name].read_text("utf-8"), name


def test_what_servers_send_is_inert_and_without_keys() -> None:
    async def repeats(asked):
        yield error("400 Bad Request", f"{KEY} and sk-key-of-b-0815\n::error::\x1b[2J")

    with raw_server(well) as one, raw_server(repeats) as other:
        run = conform("parity", one.url, other.url, *ANSWERS, "-k", KEY, "--api-key-b", "sk-key-of-b-0815")
    assert run.exit_code == 1
    assert "chat/parity/status" in run.stdout
    for text in (KEY, "sk-key-of-b-0815", "\n::error", "\x1b"):
        assert text not in run.stdout
    assert {asked.headers.get("authorization") for asked in one.asked} == {f"Bearer {KEY}"}
    assert {asked.headers.get("authorization") for asked in other.asked} == {"Bearer sk-key-of-b-0815"}


def sent_keys(*arguments: str, host: str = "127.0.0.1", **env: str) -> list[set[str | None]]:
    """The headers with keys that A and B get, which differ in their answers' texts."""
    with raw_server(well) as one, raw_server(well) as other:
        run = conform("parity", one.url, other.url.replace("127.0.0.1", host), *ANSWERS, *arguments, **env)
    assert run.exit_code == 0, run.stdout
    return [{asked.headers.get("authorization") for asked in server.asked} for server in (one, other)]


def test_another_host_gets_no_key_of_the_first() -> None:
    own = {f"Bearer {KEY}"}
    assert sent_keys("-k", KEY) == [own, own]
    assert sent_keys("-k", KEY, host="localhost") == [own, {None}]
    assert sent_keys(OPENAI_API_KEY=KEY, host="localhost") == [own, {None}]
    assert sent_keys("-k", KEY, "--api-key-b", KEY, host="localhost") == [own, own]
    assert sent_keys("-k", KEY, SPECVINO_API_KEY_B="sk-key-of-b-0815") == [own, {"Bearer sk-key-of-b-0815"}]


def test_commands_name_the_key_of_their_server(good, bad) -> None:
    one, other = 'Bearer $SPECVINO_API_KEY"', 'Bearer $SPECVINO_API_KEY_B"'
    shown = conform("parity", good, bad, *ANSWERS, "-k", KEY, "--api-key-b", "sk-key-of-b-0815").stdout
    assert (shown.count(one), shown.count(other)) == (2, 3)
    shown = conform("parity", good, bad, *ANSWERS, "-k", KEY).stdout
    assert (shown.count(one), shown.count(other)) == (5, 0)


def test_headers_for_one_server_go_to_it_alone(good) -> None:
    with raw_server(well) as one, raw_server(well) as other:
        arguments = (
            "--header",
            "X-Team: both-of-them",
            "--header",
            "X-Other: x",
            "--header-b",
            "X-Team: only-b-has-it",
        )
        assert conform("parity", one.url, other.url, *ANSWERS, *arguments).exit_code == 0
    assert {asked.headers["x-team"] for asked in one.asked} == {"both-of-them"}
    assert {(asked.headers["x-team"], asked.headers["x-other"]) for asked in other.asked} == {("only-b-has-it", "x")}


def test_each_server_has_its_own_name_for_the_model(good) -> None:
    async def renames(asked):
        model = json.loads(asked.body)["model"]
        yield answer(json.dumps({**TEXT, "model": model}).encode())

    listing = answer(b'{"object": "list", "data": []}')
    with raw_server(well) as one, raw_server(renames, listing) as other:
        run = conform("parity", one.url, other.url, *ANSWERS, "-m", "m", "--model-b", "team/m")
    assert run.exit_code == 0, run.stdout


def test_couldnt_run_names_the_server(good) -> None:
    assert "B: no server is reachable at http://127.0.0.1:1/v1" in one_line(
        conform("parity", good, "http://127.0.0.1:1/v1")
    )
    assert "A: no server is reachable" in one_line(conform("parity", "http://127.0.0.1:1/v1", good))
    assert "the layer fuzz has none" in one_line(conform("parity", good, good, "-f", "chat/fuzz"))
    assert "--quiet and --verbose" in one_line(conform("parity", good, good, "-q", "-v"))


def test_a_server_that_refuses_everything_ends_the_run(good) -> None:
    async def limited(asked):
        yield error("429 Too Many Requests", "slow down")

    with raw_server(limited) as other:
        run = conform("parity", good, other.url, "-f", "chat/basics")
    assert run.exit_code == 2
    assert "refuses every request with 429 since chat/basics/" in run.stderr
    assert " at B" in run.stderr
