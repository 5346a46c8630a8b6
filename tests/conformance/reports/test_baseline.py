"""Accepted findings."""

import pytest
from support.reports import line

from specvino.conformance.reports.baseline import BadBaseline, Baseline, read


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
    assert baseline.accepts(line("chat/a/b", "fail"))
    assert not baseline.accepts(line("chat/a/c", "fail"))


def test_another_verdict_is_not_accepted(tmp_path) -> None:
    baseline = read(written(tmp_path, "accepted: {chat/a/b: {verdict: fail}}"))
    assert not baseline.accepts(line("chat/a/b", "error"))


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
        ("{", "no baseline"),
        ("\x00", "no baseline"),
        ("a: &a [*a]", "no baseline"),
        ("[" * 3000, "no baseline"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path, text, problem) -> None:
    with pytest.raises(BadBaseline, match=problem):
        read(written(tmp_path, text))


def test_entries_that_are_no_longer_needed_are_told() -> None:
    baseline = Baseline.model_validate({"accepted": {f"chat/a/{each}": {"verdict": "fail"} for each in "bcdef"}})
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
        {"accepted": {f"chat/a/{each}": {"verdict": "fail", "because": each} for each in "bcd"}}
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
