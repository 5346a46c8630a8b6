"""What got better or worse."""

import pytest
from support.reports import HEADER, line, report

from specvino.conformance.reports.diff import by_fault, diff, differences, new_faults
from specvino.conformance.reports.records import FindingRecord, Report
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
    changes = diff(report(line("chat/a/b", before)), report(line("chat/a/b", after)))
    kinds = {kind: len(getattr(changes, kind)) for kind in ("worse", "better", "other")}
    assert kinds == {"worse": 0, "better": 0, "other": 0} | {kind: 1}
    assert changes.is_worse == (kind == "worse")


@pytest.mark.parametrize("fail_on", Severity)
def test_advice_makes_a_run_worse_where_it_fails_by_it(fail_on) -> None:
    before = report(line("chat/a/b", severity="should"))
    after = report(line("chat/a/b", "fail", severity="should"))
    after.header = HEADER.model_copy(update={"fail_on": fail_on})
    changes = diff(before, after)
    assert len(changes.worse) == 1
    assert changes.is_worse == (fail_on == "should")


def test_what_is_the_same_is_counted() -> None:
    changes = diff(
        report(line("chat/a/b"), line("chat/a/c", "fail")), report(line("chat/a/c", "fail"), line("chat/a/b"))
    )
    assert changes.same == 2
    assert not changes.is_worse


def test_rules_of_one_run_only() -> None:
    changes = diff(report(line("chat/a/b")), report(line("chat/a/c"), line("chat/a/d", "fail")))
    assert [record.rule for record in changes.gone] == ["chat/a/b"]
    assert [record.rule for record in changes.new] == ["chat/a/c", "chat/a/d"]
    assert changes.is_worse


def broken(*messages):
    return line("chat/a/b", "fail", findings=tuple(FindingRecord(message=message) for message in messages))


def test_another_fault_of_a_broken_rule_is_worse() -> None:
    before = report(broken("3 tokens are 4", "it has no 'id'"))
    same = diff(before, report(broken("5 tokens are 61")))
    assert (same.same, same.is_worse) == (1, False)
    worse = diff(before, report(broken("5 tokens are 61", "it has no 'object'")))
    assert (worse.same, len(worse.worse), worse.is_worse) == (0, 1, True)
    assert [finding.message for finding in new_faults(*worse.worse[0])] == ["it has no 'object'"]


def rules_of(groups):
    return [[after.rule for _, after in change.pairs] for change in groups]


def fault(rule, verdict, *messages, **more):
    findings = tuple(FindingRecord(message=message) for message in messages)
    return line(rule, verdict, findings=findings, **more)


def test_a_fault_is_shown_once() -> None:
    missing, other = "the answer has no id", "3 tokens, though max_tokens is 2"
    pairs = [
        (line("chat/a/b"), fault("chat/a/b", "fail", missing)),
        (line("chat/a/c", "skip", because="no key"), fault("chat/a/c", "fail", missing)),
        # What was known of this rule isn't what is new.
        (fault("chat/a/d", "fail", other), fault("chat/a/d", "fail", other, missing)),
        (line("chat/a/e"), fault("chat/a/e", "fail", other)),
        (line("chat/a/f"), fault("chat/a/f", "fail", missing, accepted=True)),
        (line("chat/a/g"), line("chat/a/g", "unsupported", because="it answers 501")),
        (line("chat/a/h"), line("chat/a/h", "unsupported", because="it answers 501")),
    ]
    assert rules_of(by_fault(pairs)) == [
        ["chat/a/b", "chat/a/c", "chat/a/d"],
        ["chat/a/e"],
        ["chat/a/f"],
        ["chat/a/g"],
        ["chat/a/h"],
    ]
    assert rules_of(by_fault((after, before) for before, after in pairs[:2])) == [["chat/a/b", "chat/a/c"]]


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"dialect": "ovms"}, "dialect is openai, then ovms"),
        ({"document": "f" * 16}, "document is 0123456789abcdef, then ffffffffffffffff"),
        ({"profile": "core"}, "profile is full, then core"),
        ({"layers": ("cases",)}, "layers is cases, streams, then cases"),
        ({"filters": ("chat",)}, "filters is empty, then chat"),
    ],
)
def test_runs_of_different_plans_are_told(changed, difference) -> None:
    assert differences(Report(HEADER), Report(HEADER.model_copy(update=changed))) == [difference]


def test_servers_and_times_may_differ() -> None:
    other = {"url": "http://elsewhere/v1", "model": "n", "started": "2027-01-02T03:04:05+00:00", "left_out": {}}
    assert not differences(Report(HEADER), Report(HEADER.model_copy(update=other)))
