"""What got better or worse."""

import pytest
from support.reports import HEADER, line, report

from specvino.conformance.reports.diff import diff, differences
from specvino.conformance.reports.records import Report
from specvino.conformance.verdict import Severity


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("pass", "fail", "worse"),
        ("pass", "error", "worse"),
        ("skip", "fail", "worse"),
        ("unsupported", "fail", "worse"),
        ("pass", "unsupported", "worse"),
        ("fail", "pass", "better"),
        ("fail", "unsupported", "better"),
        ("unsupported", "pass", "better"),
        ("pass", "skip", "other"),
        ("fail", "skip", "other"),
        ("skip", "pass", "other"),
        ("fail", "error", "other"),
    ],
)
def test_each_change_has_its_kind(before, after, kind) -> None:
    found = diff(report(line("chat/a/b", before)), report(line("chat/a/b", after)))
    kinds = {each: len(getattr(found, each)) for each in ("worse", "better", "other")}
    assert kinds == {"worse": 0, "better": 0, "other": 0} | {kind: 1}
    assert found.is_worse == (kind == "worse")


@pytest.mark.parametrize("fail_on", Severity)
def test_advice_makes_a_run_worse_where_it_fails_by_it(fail_on) -> None:
    before = report(line("chat/a/b", severity="should"))
    after = report(line("chat/a/b", "fail", severity="should"))
    after.header = HEADER.model_copy(update={"fail_on": fail_on})
    found = diff(before, after)
    assert len(found.worse) == 1
    assert found.is_worse == (fail_on == "should")


def test_what_is_the_same_is_counted() -> None:
    found = diff(report(line("chat/a/b"), line("chat/a/c", "fail")), report(line("chat/a/c", "fail"), line("chat/a/b")))
    assert found.same == 2
    assert not found.is_worse


def test_rules_of_one_run_only() -> None:
    found = diff(report(line("chat/a/b")), report(line("chat/a/c"), line("chat/a/d", "fail")))
    assert [each.rule for each in found.gone] == ["chat/a/b"]
    assert [each.rule for each in found.new] == ["chat/a/c", "chat/a/d"]
    assert found.is_worse


def test_runs_that_are_not_alike_are_told() -> None:
    other = HEADER.model_copy(update={"dialect": "ovms", "filters": ("chat",), "url": "http://elsewhere/v1"})
    assert differences(Report(HEADER), Report(other)) == [
        "The runs differ in dialect: openai, then ovms.",
        "The runs differ in filters: none, then chat.",
    ]
