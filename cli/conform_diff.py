"""`specvino conform diff`."""

from pathlib import Path

from rich.console import Console
from rich.text import Text

from specvino.cli.ending import end
from specvino.conformance.reports.diff import Change, by_fault, diff, differences
from specvino.conformance.reports.ndjson import BadReport, read
from specvino.conformance.reports.records import Report, totals
from specvino.conformance.reports.table import STYLES, brief


def read_report(path: Path) -> Report:
    """Returns the report in a file; ends the command if it can't be read."""
    try:
        return read(path)
    except BadReport as error:
        end(str(error))
    except OSError as error:
        end(f"{path} can't be read: {error.strerror}")


def compare(before: Path, after: Path) -> int:
    """Prints the differences and returns the exit code."""
    old, new = read_report(before), read_report(after)
    for path, report in ((before, old), (after, new)):
        if not report.complete:
            end(f"{path} can't be compared: {report.shortcoming}")
    if differ := differences(old, new):
        end(f"{before} and {after} are runs with different plans: {'; '.join(differ)}")
    console = Console(highlight=False)
    changes = diff(old, new)
    if old.header.model != new.header.model:
        text = Text(f"The models differ: {old.header.model}, then {new.header.model}.", style="yellow")
        console.print(text, soft_wrap=True)
    if old.header.rules != new.header.rules:
        versions = f"{old.header.rules or 'before 1.0'}, then {new.header.rules or 'before 1.0'}"
        console.print(Text(f"The rules differ: {versions}.", style="yellow"), soft_wrap=True)
    for path, report in ((before, old), (after, new)):
        if report.shortcoming:
            console.print(Text(f"{path}: {report.shortcoming}", style="yellow"), soft_wrap=True)
    for title, pairs in (("worse", changes.worse), ("better", changes.better), ("changed", changes.other)):
        for change in by_fault(pairs):
            _print(console, title, f"{change.pairs[0][0].verdict} -> ", change)
    for change in by_fault((line, line) for line in changes.new):
        _print(console, "new", "", change)
    for line in changes.gone:
        console.print(Text(f"gone     {line.rule}: was {line.verdict}"), soft_wrap=True)
    worse = len(changes.worse) + len(changes.newly_bad)
    console.print(
        f"{worse} worse, {len(changes.better)} better, {len(changes.other)} changed, {changes.same} the same, "
        f"{len(changes.new)} new, {len(changes.gone)} gone"
    )
    for when, report in (("before", old), ("after", new)):
        console.print(f"{when}: {'; '.join(totals(report))}", style="dim", soft_wrap=True)
    return 1 if changes.is_worse else 0


def _print(console: Console, title: str, was: str, change: Change) -> None:
    """Prints a change, its fault and the other rules that report it."""
    line = change.pairs[0][1]
    text = Text(f"{title:8} {line.rule}: {was}").append(str(line.verdict), style=STYLES[line.verdict])
    if change.why:
        text.append(f": {brief(change.why)}", style="dim")
    if change.title:
        text.append(f"\n{'':8} {change.title}")
    if others := [other.rule for _, other in change.pairs[1:]]:
        more = f"{len(others)} more rule{'s' * (len(others) > 1)}"
        text.append(f"\n{'':8} and {more}: {', '.join(others)}", style="dim")
    console.print(text, soft_wrap=True)
