"""A badge as JSON for shields.io's endpoint badge (https://shields.io/badges/endpoint-badge)."""

import json
from pathlib import Path

from specvino.conformance.clients.profile import all_clients
from specvino.conformance.reports.faults import fault_records
from specvino.conformance.reports.readiness import Readiness, readiness
from specvino.conformance.reports.records import Report
from specvino.conformance.verdict import Severity, Verdict

COLORS = {Readiness.READY: "brightgreen", Readiness.LIMITED: "yellow", Readiness.NOT_READY: "red"}


def write(report: Report, path: Path) -> None:
    """Writes the badge of a report. Raises OSError."""
    path.write_text(json.dumps(badge(report), ensure_ascii=False) + "\n", encoding="utf-8")


def badge(report: Report) -> dict[str, str | int]:
    """Returns the badge: how many of the checked `must` rules pass, and the number of faults, or the verdict
    for the client of the run; `not judged` for a run that isn't whole."""
    verdicts = [line.verdict for line in report.lines if line.severity is Severity.MUST]
    passed, failed = verdicts.count(Verdict.PASS), verdicts.count(Verdict.FAIL)
    message, color = f"{passed} of {passed + failed} pass", "red" if failed else "brightgreen"
    if number := sum(fault.severity is Severity.MUST for fault in fault_records(report.lines)):
        message += f", {number} fault{'s' * (number > 1)}"
    if not report.covers_plan or not passed + failed:
        message, color = "not judged", "lightgrey"
    label = f"{report.header.dialect} API"
    if (verdict := readiness(report)) is not None and report.covers_plan:
        label, message, color = all_clients()[report.header.client].title, verdict.lower(), COLORS[verdict]
    return {"schemaVersion": 1, "label": label, "message": message, "color": color}
