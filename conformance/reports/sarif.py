"""SARIF 2.1.0 reports, for code hosts: a result for each fault.

For the fields that GitHub's code scanning reads, and its limits, see docs.github.com, "SARIF support for code
scanning".
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from specvino.conformance.message_shape import template_of
from specvino.conformance.reports.faults import Fault, faults
from specvino.conformance.reports.plain import cut, finding_lines
from specvino.conformance.reports.records import FindingRecord, Header, Line, Report
from specvino.conformance.verdict import Severity, Verdict

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

LEVELS = {Severity.MUST: "error", Severity.SHOULD: "warning"}

# The maximum length of a description in code scanning, in characters.
LONGEST = 1_000


def write(report: Report, path: Path) -> None:
    """Writes a SARIF report. Raises OSError."""
    path.write_text(json.dumps(sarif(report), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def sarif(report: Report) -> dict[str, Any]:
    bad = sorted(report.bad, key=lambda line: line.rule)
    name, _, version = report.header.tool.partition(" ")
    rules, properties = [_rule(line) for line in bad], {"rulesVersion": report.header.rules}
    driver = {"name": name, "version": version, "rules": rules, "properties": properties}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "automationDetails": {"id": _id(report.header)},
                "invocations": [_invocation(report)],
                "results": list(_results(report, {line.rule: index for index, line in enumerate(bad)})),
                "columnKind": "unicodeCodePoints",
            }
        ],
    }


def _id(header: Header) -> str:
    """Returns the id by which code hosts replace alerts of an earlier run: server, model, dialect and profile. A run's
    own name would follow the last slash."""
    server = f"{urlsplit(header.url).netloc}/{header.model}"
    return f"specvino/{quote(server, safe='/:')}/{header.dialect}/{header.profile}/"


def _invocation(report: Report) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "executionSuccessful": not report.shortcoming,
        "startTimeUtc": _utc(report.header.started),
    }
    if report.shortcoming:
        notification = {"level": "error", "message": {"text": report.shortcoming}}
        invocation["toolExecutionNotifications"] = [notification]
    return invocation


def _utc(started: str) -> str:
    return started.replace("+00:00", "Z")


def _rule(line: Line) -> dict[str, Any]:
    paragraphs = [line.says]
    if line.advice:
        paragraphs.append(f"Reason for this advice: {line.advice} ({line.source})")
    if line.spec:
        paragraphs.append(f"Source in the document: {line.spec}.")
    paragraphs += [f"See {issue}" for issue in line.issues]
    says, text = {"text": cut(line.says, LONGEST)}, "\n".join(paragraphs)
    rule = {
        "id": line.rule,
        "shortDescription": says,
        "fullDescription": {"text": cut(text, LONGEST)},
        "help": {"text": text, "markdown": "\n\n".join(map(_escaped, paragraphs))},
        "defaultConfiguration": {"level": LEVELS[line.severity]},
        "properties": {
            "tags": ["conformance", line.rule.split("/")[0], line.severity],
            "precision": "high",
            "problem.severity": LEVELS[line.severity],
        },
    }
    return rule | ({"helpUri": line.issues[0]} if line.issues else {})


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_[]<>#|" else character for character in text)


def _results(report: Report, index: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yields a result for each fault, with all of its findings. `index` has the indexes of rules."""
    for accepted in (False, True):
        for fault in faults(report.lines, accepted=accepted):
            line = fault.head
            finding = next(iter(line.findings), FindingRecord(message=line.because or line.says))
            # Code hosts identify a result by its fingerprint.
            fingerprint = hashlib.sha256(f"{line.rule} {finding.fault}".encode()).hexdigest()[:16]
            result: dict[str, Any] = {
                "ruleId": line.rule,
                "ruleIndex": index[line.rule],
                "level": "note" if line.verdict is Verdict.ERROR else LEVELS[line.severity],
                "message": {"text": "\n".join(_message(fault, finding))},
                "locations": [_location(finding, report.header)],
                "partialFingerprints": {"primaryLocationLineHash": f"{fingerprint}:1"},
            }
            if accepted:
                justification = line.note or "accepted by the baseline"
                result["suppressions"] = [{"kind": "external", "justification": justification}]
            yield result


def _message(fault: Fault, finding: FindingRecord) -> Iterator[str]:
    """Yields the lines of a fault: its title, the first finding with its exchanges, and what else was found."""
    yield fault.title
    yield from finding_lines(finding)
    for other in fault.head.findings[1:]:
        yield other.message
    for message, lines in fault.messages().items():
        yield f"{', '.join(map(fault.name, lines))}: {message}"


def _location(finding: FindingRecord, header: Header) -> dict[str, Any]:
    """Returns the location of a finding: the request's path as a file. Code hosts require a file that is the same in
    each run, so path parameters are removed."""
    url = urlsplit(finding.exchanges[0].request.url if finding.exchanges else header.url)
    path = url.path
    if template := template_of(path):
        path = urlsplit(header.url).path.rstrip("/") + template.split("/{")[0]
    request_line = f"{finding.exchanges[0].request.method} {path}" if finding.exchanges else path
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(path.strip("/") or url.netloc, safe="/%:")},
            "region": {"startLine": 1},
        },
        "logicalLocations": [
            {"name": request_line, "fullyQualifiedName": f"{url.netloc} {request_line}", "kind": "resource"}
        ],
    }
