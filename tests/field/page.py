"""The tables of docs/servers.md, from the list, the reports of the portal and what other judges say."""

import re
from collections.abc import Iterator
from pathlib import Path

from field.listing import HERE, Listed, listed
from field.outside import SCRIPTED, Outcome, disagreements, judges, results
from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.markdown import escaped
from specvino.conformance.reports.ndjson import read
from specvino.conformance.reports.records import Report
from specvino.conformance.verdict import Severity, Verdict

PUBLISHED = HERE.parents[1] / "docs" / "servers"
PAGE = PUBLISHED.with_suffix(".md")

DRAWN = re.compile(r"(?<=<!-- drawn: (?P<name>[a-z]{7}) -->\n).*?(?=<!-- end -->)", re.DOTALL)


def published(name: str) -> Path:
    """Returns the file of a server's report."""
    return PUBLISHED / f"{name}.ndjson"


def page() -> str:
    """Returns the page as it has to be."""
    drawn = {"servers": _table, "outside": _outside}
    return DRAWN.sub(lambda found: "".join(f"{line}\n" for line in drawn[found["name"]]()), PAGE.read_text("utf-8"))


def _table() -> Iterator[str]:
    yield "| server | what was judged | must hold | advice | faults | judged |"
    yield "| --- | --- | --- | --- | --- | --- |"
    ours_last = sorted(listed().items(), key=lambda item: not item[1].home)
    for name, server in ours_last:
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


def _outside() -> Iterator[str]:
    by_server = results()
    yield f"| server | {' | '.join(judge.title for judge in judges().values())} | asked |"
    yield f"| --- |{' --- |' * len(judges())} --- |"
    for name in (name for name in (SCRIPTED, *listed()) if name in by_server):
        asked = by_server[name]
        cells = (_passed(asked.judges.get(judge), outside.title) for judge, outside in judges().items())
        yield f"| {asked.title} | {' | '.join(cells)} | {asked.date or ''} |"
    yield ""
    yield "| judge | test | it says | who is right | why |"
    yield "| --- | --- | --- | --- | --- |"
    for judge, tests in disagreements().items():
        for test, opinion in tests.items():
            message, title = escaped(by_server[SCRIPTED].judges[judge].failed[test]), judges()[judge].title
            right = title if opinion.right == "judge" else opinion.right
            yield f"| {title} | `{test}` | {message} | {right} | {opinion.because} |"


def _passed(outcome: Outcome | None, title: str) -> str:
    """Returns how many tests passed, with the title of the judge if it has another version now."""
    if outcome is None:
        return ""
    passed = f"{outcome.passed} of {outcome.decided}"
    return passed if outcome.title == title else f"{passed} by {outcome.title}"
