"""Reports as self-contained web pages: one run, or several servers side by side."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from specvino.conformance.reports import inert
from specvino.conformance.reports.faults import fault_records, faults
from specvino.conformance.reports.records import BAD, Line, Report, by_subject, count, notes, totals
from specvino.conformance.verdict import Severity, Verdict

# The maximum length of a body with a line for each value, in characters.
LONGEST_PRETTY = 50_000

ORDER = (Verdict.FAIL, Verdict.ERROR, Verdict.UNSUPPORTED, Verdict.NOT_EXERCISED, Verdict.SKIP, Verdict.PASS)


def write(report: Report, path: Path) -> None:
    """Writes a report as a web page. Raises OSError."""
    path.write_text(page(report), encoding="utf-8")


def page(report: Report, *, back: str | None = None) -> str:
    """Returns a report as a web page. `back` is the URL of a page that links to it."""
    return str(render("report.html.jinja", report=report, lines=_sorted(report), back=back))


def render(template: str, **values: object) -> str:
    return _environment().get_template(template).render(values)


def anchor(rule: str) -> str:
    """Returns the anchor of a rule within a page."""
    return "".join(character if character.isalnum() or character in "-_" else "." for character in rule)


def _sorted(report: Report) -> list[Line]:
    return sorted(
        report.lines,
        key=lambda line: (ORDER.index(line.verdict), list(Severity).index(line.severity), line.accepted, line.rule),
    )


def _pretty(body: str) -> str:
    """Returns JSON with a line for each value; anything else unchanged."""
    try:
        # JSON escapes may decode to anything.
        pretty = inert.block(json.dumps(json.loads(body), indent=2, ensure_ascii=False))
    except (ValueError, RecursionError):
        return body
    # The indents of deeply nested lists have a quadratic length.
    return pretty if len(pretty) <= LONGEST_PRETTY else body


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("specvino.conformance.reports", "templates"),
        autoescape=True,  # servers' texts aren't trusted
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "anchor": anchor,
        "pretty": _pretty,
        "totals": totals,
        "count": count,
        "by_subject": by_subject,
        "faults": faults,
    }
    environment.globals |= {"Verdict": Verdict, "BAD": BAD, "notes": notes, "Counter": Counter}
    for name in ("style.css", "filter.js"):
        source = environment.loader.get_source(environment, name)[0] if environment.loader else ""
        environment.globals[name.replace(".", "_")] = Markup(source)
    return environment


@dataclass(frozen=True, slots=True)
class Column:
    """A server of the matrix. `file` is the page with its findings; `faults` is the number of its faults."""

    name: str
    file: str
    report: Report
    lines: Mapping[str, Line]
    faults: Counter[Severity]


@dataclass(frozen=True, slots=True)
class Row:
    """A rule of the matrix, with the line of each server, or None."""

    rule: str
    says: str
    cells: tuple[Line | None, ...]

    @property
    def severity(self) -> Severity:
        """Returns `should` for a rule that is advice for each server."""
        must = any(cell is not None and cell.severity is Severity.MUST for cell in self.cells)
        return Severity.MUST if must else Severity.SHOULD

    @property
    def verdicts(self) -> str:
        return " ".join("none" if cell is None else str(cell.verdict) for cell in self.cells)


def write_matrix(reports: Mapping[str, Report], folder: Path) -> None:
    """Writes the site: a matrix of all servers, and a page for each. `reports` are by server name. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = _columns(reports)
    for column in columns:
        (folder / column.file).write_text(page(column.report, back="index.html"), encoding="utf-8")
    site = render("matrix.html.jinja", columns=columns, rows=_rows(columns))
    (folder / "index.html").write_text(site, encoding="utf-8")


def _columns(reports: Mapping[str, Report]) -> list[Column]:
    slugs = {"index"}
    columns = []
    for name, report in reports.items():
        base = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "server"
        slug = next(
            candidate for candidate in (base, *(f"{base}-{n}" for n in range(2, 10_000))) if candidate not in slugs
        )
        slugs.add(slug)
        lines = {line.rule: line for line in report.lines}
        counts = Counter(fault.severity for fault in fault_records(report.lines))
        columns.append(Column(inert.line(name), f"{slug}.html", report, lines, counts))
    return columns


def _rows(columns: list[Column]) -> list[Row]:
    says = {line.rule: line.says for column in columns for line in column.report.lines}
    return [
        Row(rule, says[rule], tuple(column.lines.get(rule) for column in columns))
        for rule in sorted(says, key=lambda rule_id: (rule_id.rsplit("/", 1)[0], rule_id))
    ]
