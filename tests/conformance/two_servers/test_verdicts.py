"""The verdicts of rules that differ between two servers."""

import pytest

from specvino.conformance.reports.records import FindingRecord, Header, Line, Report
from specvino.conformance.two_servers.verdicts import lines
from specvino.conformance.verdict import Verdict

HEADER = Header(
    tool="t", url="http://127.0.0.1:1/v1", model="m", dialect="openai", document="d", profile="full", layers=(),
    started="2026-01-01T00:00:00+00:00",
)  # fmt: skip


def report(verdict: Verdict, *messages: str) -> Report:
    findings = tuple(FindingRecord(message=message) for message in messages)
    return Report(HEADER, [Line(rule="chat/a/b", layer="cases", says="So.", verdict=verdict, findings=findings)])


def differences(a: Report, b: Report) -> list[list[str]]:
    return [[finding.message for finding in line.findings] for line in lines(a, b) if line.verdict is Verdict.FAIL]


LATE, WRONG = "it is late", "it is wrong"


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (report(Verdict.PASS), report(Verdict.FAIL, LATE), [[f"pass at A, fail at B: {LATE}"]]),
        (report(Verdict.UNSUPPORTED), report(Verdict.FAIL, LATE), [[f"unsupported at A, fail at B: {LATE}"]]),
        (report(Verdict.UNSUPPORTED), report(Verdict.PASS), [["unsupported at A, pass at B: "]]),
        (report(Verdict.NOT_EXERCISED), report(Verdict.FAIL, LATE), []),
        (report(Verdict.SKIP), report(Verdict.FAIL, LATE), []),
        (report(Verdict.FAIL, LATE), report(Verdict.FAIL, LATE), []),
        (
            report(Verdict.FAIL, LATE),
            report(Verdict.FAIL, LATE, WRONG),
            [[f"fail at A, fail at B, only at B: {WRONG}"]],
        ),
        (
            report(Verdict.FAIL, LATE),
            report(Verdict.FAIL, WRONG),
            [[f"fail at A, fail at B, only at A: {LATE}", f"fail at A, fail at B, only at B: {WRONG}"]],
        ),
    ],
)
def test_exchanged_servers_have_the_same_differences(a: Report, b: Report, expected: list[list[str]]) -> None:
    assert differences(a, b) == expected
    assert [len(found) for found in differences(b, a)] == [len(found) for found in expected]
