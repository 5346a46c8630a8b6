"""specvino conform with requests that are generated."""

import re

import pytest
from support.conforming import conform, one_line, well
from support.judging import counted
from support.raw_server import answer, chat, raw_server
from support.reports import HEADER

from specvino.conformance.fuzz import endpoint_results
from specvino.conformance.reports import ndjson
from specvino.conformance.verdict import Verdict

BOXED = "chat/fuzz/not-a-server-error"
GENERATED = ("--layer", "fuzz", "--profile", "core", "-f", BOXED)


def test_a_box_of_time_for_the_fuzz_is_green(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(endpoint_results, "FEWEST", 1)  # however slow the machine is
    with raw_server(well) as server:
        run = conform(
            server.url, "--layer", "fuzz", "-v", "-f", BOXED, "--max-time", "5", "--junit", tmp_path / "r.xml"
        )
    assert run.exit_code == 0, run.output
    assert re.search(r"pass chat/fuzz/requests: \d+ requests, .*; the time limit of [0-9.]+ s was reached", run.stdout)
    assert "runs to its end" not in (tmp_path / "r.xml").read_text("utf-8")


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
    assert run.stderr == "specvino: no rule could be judged\n"
    assert counted(ndjson.read(file), Verdict.NOT_EXERCISED) == len(ndjson.read(file).lines) == 2


def test_a_finding_is_sent_again(tmp_path) -> None:
    before, after = tmp_path / "before.ndjson", tmp_path / "after.ndjson"
    with raw_server(failing) as server:
        assert conform(server.url, *GENERATED, "--ndjson", before).exit_code == 1
        asked = len(server.asked)
        run = conform("--replay", before, "-f", BOXED)
        assert run.exit_code == 1, run.output
        assert f"fail {BOXED}" in run.stdout
        (line,) = (line for line in ndjson.read(before).lines if line.rule == BOXED)
        shown = [(exchange.request.body or "").encode() for finding in line.findings for exchange in finding.exchanges]
        assert shown
        assert [request.body for request in server.asked[asked:] if request.body in shown] == shown
    with raw_server(well) as server:
        run = conform(server.url, "--replay", before, "--ndjson", after)
    assert run.exit_code == 0, run.output
    assert [(line.rule, line.verdict) for line in ndjson.read(after).lines] == [(BOXED, Verdict.PASS)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--seed", 1), "require --layer fuzz"),
        (
            ("--layer", "fuzz", "--exclude-check", "no_such"),
            "unknown check 'no_such'; the checks are not_a_server_",
        ),
        (("--replay", "REPORT", "--seed", 1), "can't be combined with"),
        (("--replay", "REPORT", "--dialect", "vllm"), "--dialect is vllm, but "),
        (("--replay", "REPORT"), "has no fuzz findings to replay"),
        (("--replay", "/no/such"), "/no/such can't be read"),
        (("--replay", "EMPTY"), "isn't a conformance report"),
    ],
)
def test_what_generated_requests_can_not_have(tmp_path, arguments, says) -> None:
    with ndjson.Writer(tmp_path / "REPORT") as writer:
        writer.write(HEADER)
    (tmp_path / "EMPTY").write_text("")
    words = [tmp_path / argument if argument in ("REPORT", "EMPTY") else argument for argument in arguments]
    assert says in one_line(conform("http://127.0.0.1:9/v1", *words))
