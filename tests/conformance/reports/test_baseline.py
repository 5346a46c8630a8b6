"""Accepted findings."""

import pytest
from support.reports import SHOWN, line

from specvino.conformance.reports import inert
from specvino.conformance.reports.baseline import BadBaseline, Baseline, read
from specvino.conformance.reports.records import FindingRecord, ResponseRecord


def written(tmp_path, text):
    path = tmp_path / "baseline.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "accepted:\n  chat/a/b: {verdict: fail, because: soon}\n",
        '{"accepted": {"chat/a/b": {"verdict": "fail", "because": "soon"}}}',
    ],
)
def test_yaml_and_json_are_read(tmp_path, text) -> None:
    baseline = read(written(tmp_path, text))
    marked = baseline.mark(line("chat/a/b", "fail"))
    assert (marked.accepted, marked.note) == (True, "soon")
    assert not baseline.mark(line("chat/a/c", "fail")).accepted


def test_another_verdict_is_not_accepted(tmp_path) -> None:
    baseline = read(written(tmp_path, "accepted: {chat/a/b: {verdict: fail}}"))
    assert not baseline.mark(line("chat/a/b", "error")).accepted


def finding(message, status=200):
    return FindingRecord(
        message=message, exchanges=(SHOWN.model_copy(update={"response": ResponseRecord(status=status, headers={})}),)
    )


def broken(*findings):
    return line("chat/a/b", "fail", findings=findings)


KNOWN = broken(finding("choices.0: 'content' is a required property"), finding("3 tokens of 'abc' are 4"))


def test_what_was_found_is_accepted_with_other_values() -> None:
    baseline = Baseline().updated([KNOWN])
    assert baseline.accepted["chat/a/b"].findings == (
        "POST /chat/completions -> 200: # tokens of '…' are #",
        "POST /chat/completions -> 200: choices.#: 'content' is a required property",
    )
    assert baseline.mark(KNOWN).accepted
    assert baseline.mark(broken(finding("5 tokens of 'it\\'s' are 61"))).accepted


@pytest.mark.parametrize(
    "new",
    [
        finding("choices.0: 'role' is a required property"),
        finding("choices.0: 'content' is a required property", status=500),
        finding("there are no choices"),
    ],
)
def test_a_new_fault_under_an_accepted_rule_is_new(new) -> None:
    marked = Baseline().updated([KNOWN]).mark(broken(*KNOWN.findings, new))
    assert not marked.accepted
    assert [finding.accepted for finding in marked.findings] == [True, True, False]


def test_how_a_check_broke_is_known_too() -> None:
    baseline = Baseline().updated([line("chat/a/b", "error", findings=(), because="KeyError: 'id' in 3")])
    assert baseline.mark(line("chat/a/b", "error", findings=(), because="KeyError: 'id' in 4")).accepted
    assert not baseline.mark(line("chat/a/b", "error", findings=(), because="TypeError: no")).accepted


def test_entries_of_no_rule_are_told() -> None:
    baseline = Baseline.model_validate({"accepted": {f"chat/a/{name}": {"verdict": "fail"} for name in "cb"}})
    assert baseline.unknown(["chat/a/a", "chat/a/b"]) == ["chat/a/c"]


def test_an_empty_file_accepts_nothing(tmp_path) -> None:
    assert read(written(tmp_path, "")) == Baseline()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("accepted: {chat/a/b: {verdict: pass}}", "chat/a/b.verdict"),
        ("accepted: {chat/a/b: fail}", "chat/a/b"),
        ("accepted: {chat: {verdict: fail}}", "pattern"),
        ("accept: {}", "accept: Extra"),
        ("[1]", "it: "),
        ("{", "isn't a baseline"),
        ("\x00", "isn't a baseline"),
        ("a: &a [*a]", "isn't a baseline"),
        ("[" * 3000, "isn't a baseline"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, text, problem) -> None:
    with pytest.raises(BadBaseline, match=problem):
        read(written(tmp_path, text))


def test_entries_that_are_no_longer_needed_are_told() -> None:
    baseline = Baseline.model_validate({"accepted": {f"chat/a/{name}": {"verdict": "fail"} for name in "bcdef"}})
    lines = [
        line("chat/a/b", "fail"),
        line("chat/a/c"),
        line("chat/a/d", "skip"),
        line("chat/a/e", "error"),
        line("chat/a/x"),
    ]
    # d wasn't judged, and f not asked for: nobody knows.
    assert list(baseline.unneeded(lines)) == ["chat/a/c", "chat/a/e"]


def test_is_brought_up_to_date(tmp_path) -> None:
    baseline = Baseline.model_validate(
        {"accepted": {f"chat/a/{name}": {"verdict": "fail", "because": name} for name in "bcd"}}
    )
    lines = [line("chat/a/b", "fail"), line("chat/a/c"), line("chat/a/d", "skip"), line("chat/a/a", "error")]
    path = tmp_path / "new.yaml"
    baseline.updated(lines).write(path)
    new = read(path).accepted
    assert [(rule, entry.verdict, entry.because) for rule, entry in new.items()] == [
        ("chat/a/a", "error", ""),
        ("chat/a/b", "fail", "b"),
        ("chat/a/d", "fail", "d"),
    ]


def test_an_empty_one_is_written_as_such(tmp_path) -> None:
    Baseline().write(tmp_path / "new.yaml")
    assert (tmp_path / "new.yaml").read_text() == "accepted: {}\n"


def test_what_a_server_sends_is_no_command_in_a_baseline(tmp_path) -> None:
    message = inert.line("the status is 500, not 200: 1#[error]x" + " ::error::x" * 20)
    found = line("chat/a/b", "fail", findings=(FindingRecord(message=message, exchanges=(SHOWN,)),))
    path = tmp_path / "new.yaml"
    Baseline().updated([found]).write(path)
    text = path.read_text("utf-8")
    assert "::error::x" in text
    assert inert.block(text) == text
    (marked,) = read(path).mark(found).findings
    assert marked.accepted
