"""Reports in SARIF 2.1.0, which code hosts show beside the code."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from specvino.conformance.reports.plain import explained
from specvino.conformance.reports.records import Header, Line, Report
from specvino.conformance.verdict import Severity, Verdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

LEVELS = {Severity.MUST: "error", Severity.SHOULD: "warning"}


def write(report: Report, path: Path) -> None:
    """Writes a report for code hosts. Raises OSError."""
    path.write_text(json.dumps(sarif(report), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sarif(report: Report) -> dict[str, Any]:
    bad = sorted(report.bad, key=lambda line: line.rule)
    name, _, version = report.header.tool.partition(" ")
    driver = {"name": name, "version": version, "rules": [_rule(line) for line in bad]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": _id(report.header)},
                "invocations": [_invocation(report)],
                "results": [_result(line, index, report) for index, line in enumerate(bad)],
                "columnKind": "unicodeCodePoints",
            }
        ],
    }


def _id(header: Header) -> str:
    """Returns the id under which code hosts replace the alerts of an earlier run: a server, a model, and what they are
    tested against. What would follow the last slash names the run."""
    server = f"{urlsplit(header.url).netloc}/{header.model}"
    return f"specvino/{quote(server, safe='/:')}/{header.dialect}/{header.profile}/"


def _invocation(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = {"executionSuccessful": not report.shortcoming, "startTimeUtc": _utc(report.header.started)}
    if report.shortcoming:
        notification = {"level": "error", "message": {"text": report.shortcoming}}
        found["toolExecutionNotifications"] = [notification]
    return found


def _utc(started: str) -> str:
    return started.replace("+00:00", "Z")


def _rule(line: Line) -> dict[str, Any]:
    rule = {"id": line.rule, "shortDescription": {"text": line.says}, "fullDescription": {"text": line.says}}
    return rule | ({"helpUri": line.issues[0]} if line.issues else {})


def _result(line: Line, index: int, report: Report) -> dict[str, Any]:
    # Code hosts leave out what has no place in a file; the document that says the rule is the best there is.
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": f"{report.header.dialect}/openapi.json"},
            "region": {"startLine": 1},
        },
        "logicalLocations": [{"fullyQualifiedName": f"{report.header.url}#{line.spec}", "kind": "member"}],
    }
    found: dict[str, Any] = {
        "ruleId": line.rule,
        "ruleIndex": index,
        "level": "note" if line.verdict is Verdict.ERROR else LEVELS[line.severity],
        "message": {"text": explained(line)},
        "locations": [place],
        "partialFingerprints": {"rule/v1": line.rule},
    }
    if line.accepted:
        found["suppressions"] = [{"kind": "external", "justification": "accepted by the baseline"}]
    return found
