"""The tables of docs/servers.md, from the list, the reports of the portal and what other judges say."""

import re
from collections.abc import Iterator
from pathlib import Path

from field.listing import HERE, Listed, listed
from field.outside import SCRIPTED, disagreements, judges, results
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


def _outside() -> Iterator[str]:
    titles = {SCRIPTED: "Specvino's scripted engine"} | {name: server.title for name, server in listed().items()}
    by_judge = results()
    yield f"| server | {' | '.join(judge.title for judge in judges().values())} |"
    yield f"| --- |{' --- |' * len(judges())}"
    for name in (name for name in titles if any(name in servers for servers in by_judge.values())):
        outcomes = (by_judge[judge].get(name) for judge in judges())
        cells = (f"{x['passed']} of {x['passed'] + len(x['failed'])}" if x else "" for x in outcomes)
        yield f"| {titles[name]} | {' | '.join(cells)} |"
    yield ""
    yield "| judge | test | it says | who is right | why |"
    yield "| --- | --- | --- | --- | --- |"
    for judge, tests in disagreements().items():
        for test, opinion in tests.items():
            message, title = escaped(by_judge[judge][SCRIPTED]["failed"][test]), judges()[judge].title
            right = title if opinion.right == "judge" else opinion.right
            yield f"| {title} | `{test}` | {message} | {right} | {opinion.because} |"
