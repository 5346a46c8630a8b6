"""Several servers side by side: a folder of web pages, without anything from elsewhere."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from specvino.conformance.reports import html
from specvino.conformance.reports.records import Line, Report


@dataclass(frozen=True, slots=True)
class Column:
    """Describes one server. `file` is the page with what was found there."""

    name: str
    file: str
    report: Report
    lines: Mapping[str, Line]


@dataclass(frozen=True, slots=True)
class Row:
    """Holds one rule, with the result of each server, None where it has none."""

    rule: str
    says: str
    cells: tuple[Line | None, ...]

    @property
    def verdicts(self) -> str:
        return " ".join("none" if cell is None else str(cell.verdict) for cell in self.cells)


def write(reports: Mapping[str, Report], folder: Path) -> None:
    """Writes the site. `reports` are by the names that the servers have in the site. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = _columns(reports)
    for column in columns:
        (folder / column.file).write_text(html.page(column.report, back="index.html"), encoding="utf-8")
    site = html.render("matrix.html.jinja", columns=columns, rows=_rows(columns))
    (folder / "index.html").write_text(site, encoding="utf-8")


def _columns(reports: Mapping[str, Report]) -> list[Column]:
    taken = {"index"}
    columns = []
    for name, report in reports.items():
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "server"
        slug = next(each for each in (plain, *(f"{plain}-{n}" for n in range(2, 10_000))) if each not in taken)
        taken.add(slug)
        columns.append(Column(name, f"{slug}.html", report, {line.rule: line for line in report.lines}))
    return columns


def _rows(columns: list[Column]) -> list[Row]:
    says = {line.rule: line.says for column in columns for line in column.report.lines}
    return [
        Row(rule, says[rule], tuple(column.lines.get(rule) for column in columns))
        for rule in sorted(says, key=lambda each: (each.rsplit("/", 1)[0], each))
    ]
