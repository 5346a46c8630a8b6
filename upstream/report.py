"""Shows the differences as a table, as Markdown, or as JSON for programs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specvino.upstream.differences import Difference, Only, What
from specvino.upstream.drift import Drift

MOST = 4
"""The number of values of a difference that are shown; JSON has all."""

_CHANGED = ("to look at again", "what", "lines")
_HEADINGS = ("field", "the system alone", "the document alone", "of objects with")


def summary(drift: Drift) -> str:
    """Returns the result in one sentence."""
    known = f", in addition to {drift.allowed} known" if drift.allowed else ""
    parts = ", ".join(".".join(part) for part in drift.parts) or "no part"
    changed = f", {_count(drift.changed, 'row')} whose lines changed" if drift.changed else ""
    count = _count(drift.differences, "difference")
    return f"{drift.system}: {count} to review{known}{changed}. {drift.source} against {parts}."


def remarks(drift: Drift) -> Iterator[str]:
    """Yields further remarks, as sentences."""
    for entry in drift.unused:
        yield f"This entry of the allow-list no longer allows anything: {entry}."
    for part in drift.left:
        yield f"Not compared, because only one side describes it: {'.'.join(part)}."
    if drift.listed:
        names = ", ".join(".".join(part) for part in drift.listed)
        yield f"Compared by names only, and requests by what the document alone accepts: {names}."
    for name in drift.unread:
        yield f"Not read, and treated as unrestricted: {name}."
    for side, reader in ((Only.SYSTEM, "system"), (Only.DOCUMENT, "document")):
        if drift.open.get(side):
            yield f"Left open by the {reader}: {', '.join(drift.open[side])}."


def as_json(drift: Drift) -> str:
    """Returns everything, as a JSON object."""
    result: dict[str, Any] = {
        "system": drift.system,
        "source": drift.source,
        "count": len(drift.differences),
        "allowed": drift.allowed,
        "differences": [_without_empty(asdict(item)) for item in drift.differences],
        "changed": [_without_empty(asdict(item)) for item in drift.changed],
        "unused": [_without_empty(asdict(item)) for item in drift.unused],
        "parts": [".".join(part) for part in drift.parts],
        "not_compared": [".".join(part) for part in drift.left],
        "compared_by_names": [".".join(part) for part in drift.listed],
        "not_read": list(drift.unread),
        "left_open": {side: list(fields) for side, fields in drift.open.items()},
    }
    return json.dumps(result, indent=2, ensure_ascii=False) + "\n"


def as_markdown(drift: Drift) -> str:
    """Returns a page: the count, a table, and remarks."""
    lines = [f"# Drift: {summary(drift)}", ""]
    if drift.differences:
        lines += [*markdown_table(drift.differences, _HEADINGS), ""]
    if drift.changed:
        lines += [f"| {' | '.join(_CHANGED)} |", "| --- | --- | --- |"]
        lines += [f"| {change.field} | {change.what} | {', '.join(change.where)} |" for change in drift.changed] + [""]
    lines += [f"- {remark}" for remark in remarks(drift)]
    return "\n".join(lines).rstrip() + "\n"


def markdown_table(differences: Sequence[Difference], headings: Sequence[str]) -> list[str]:
    """Returns the lines of a Markdown table of the differences, with four headings."""
    cells = (" | ".join(_cell(text) for text in row) for row in rows(differences))
    return [f"| {' | '.join(headings)} |", "| --- | --- | --- | --- |", *(f"| {line} |" for line in cells)]


def _cell(text: str) -> str:
    """Returns a text for a cell of a Markdown table, in which it makes neither HTML nor a link."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("](", "]\\(")


def show(drift: Drift, console: Console) -> None:
    """Prints the count, a table, and remarks."""
    console.print(summary(drift), style="bold", markup=False, soft_wrap=True)
    if drift.differences:
        table = Table(*_HEADINGS, box=None, pad_edge=False, header_style="dim")
        table.columns[0].no_wrap = True
        for row in rows(drift.differences):
            table.add_row(*map(Text, row))
        console.print(table)
    if drift.changed:
        table = Table(*_CHANGED, box=None, pad_edge=False, header_style="dim")
        table.columns[0].no_wrap = True
        for change in drift.changed:
            table.add_row(Text(change.field), Text(change.what), Text("\n".join(change.where)))
        console.print(table)
    for remark in remarks(drift):
        console.print(remark, style="dim", markup=False, soft_wrap=True)


def rows(differences: Sequence[Difference]) -> Iterator[tuple[str, str, str, str]]:
    """Yields a row for each field and kind of object, with what only the system and only the document accepts."""
    cells: dict[tuple[str, tuple[str, ...]], dict[Only, list[str]]] = {}
    for difference in differences:
        cells.setdefault((difference.field, difference.kinds), {}).setdefault(difference.only, []).append(
            values_text(difference)
        )
    for (field, kinds), sides in cells.items():
        system, document = ("; ".join(sides.get(side, ())) for side in (Only.SYSTEM, Only.DOCUMENT))
        yield field, system, document, ", ".join(_some(kinds))


def values_text(difference: Difference) -> str:
    """Returns what only one side accepts or names, in short."""
    values = ", ".join(_some(difference.values))
    match difference.what:
        case What.VALUES:
            return values
        case What.ABSENCE:
            return "may be left out"
        case What.DEFAULT:
            return f"default {values}"
        case What.FIELD:
            return "has the field"
        case What.UNKNOWN_FIELDS:
            return "unknown fields"


def _some(listed: Sequence[str]) -> list[str]:
    return [*listed[:MOST], f"{len(listed) - MOST} more"] if len(listed) > MOST + 1 else list(listed)


def _count(listed: Sequence[object], name: str) -> str:
    return f"{len(listed) or 'no'} {name}{'' if len(listed) == 1 else 's'}"


def _without_empty(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if value not in (None, ())}
