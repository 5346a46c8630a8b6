"""The table of docs/servers.md, from the list and the reports of the portal."""

import re
from collections.abc import Iterator
from pathlib import Path

from field.listing import HERE, Listed, listed
from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.ndjson import read
from specvino.conformance.reports.records import Report
from specvino.conformance.verdict import Severity, Verdict

PUBLISHED = HERE.parents[1] / "docs" / "servers"
PAGE = PUBLISHED.with_suffix(".md")

DRAWN = re.compile(r"(?<=<!-- drawn: servers -->\n).*(?=<!-- end -->)", re.DOTALL)


def published(name: str) -> Path:
    """Returns the file of a server's report."""
    return PUBLISHED / f"{name}.ndjson"


def page() -> str:
    """Returns the page as it has to be."""
    return DRAWN.sub(lambda _: "".join(f"{line}\n" for line in _table()), PAGE.read_text("utf-8"))


def _table() -> Iterator[str]:
    yield "| server | what was judged | must hold | advice | faults | judged |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, server in listed().items():
        if published(name).exists():
            yield _row(server, read(published(name)))


def _row(server: Listed, report: Report) -> str:
    title = f"[{server.title}]({server.home})" if server.home else server.title
    all_faults = faults(report.lines) + faults(report.lines, accepted=True)
    cells = [
        title,
        server.about,
        *(_kept(report, severity) for severity in Severity),
        str(len(all_faults)),
        report.header.started[:10],
    ]
    return f"| {' | '.join(cells)} |"


def _kept(report: Report, severity: Severity) -> str:
    """Returns how many rules a server keeps to, of those that it could be judged by."""
    verdicts = [line.verdict for line in report.lines if line.severity is severity]
    passed, failed = verdicts.count(Verdict.PASS), verdicts.count(Verdict.FAIL)
    return f"{passed} of {passed + failed}"
