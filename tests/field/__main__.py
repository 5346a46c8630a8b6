"""Judges the servers of servers.yaml: `tox run -e field [-- NAME…]`.

Each is installed into a folder of its own, started, judged and stopped; what is found is compared with what is known
(known/). With `--note` it is known from then on: known/ and the reports of the portal (docs/servers/) are written, and
whoever runs it notes in known/ how true each new finding is. `--again` notes the last reports once more, without a run.
`--outside` asks the judges that others make instead, and writes what they say to outside.json.
"""

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from field.anonymous import anonymous
from field.install import Failed, filled
from field.listing import Listed, listed
from field.outside import SCRIPTED, ask
from field.page import PAGE, page, published
from field.running import installed
from field.truth import known, marked, slim, unread, updated, write
from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.ndjson import as_line, read
from specvino.conformance.reports.records import BAD, Report

console = Console(highlight=False)


def main(
    names: Annotated[list[str] | None, typer.Argument(help="The servers; by default all.", show_default=False)] = None,
    note: Annotated[bool, typer.Option("--note", help="Write what is found to known/ and docs/servers/.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Take the last reports in place of a run.")] = False,
    outside: Annotated[bool, typer.Option("--outside", help="Ask other judges (outside.py) in place of ours.")] = False,
    folder: Annotated[Path, typer.Option(help="Where servers are installed.")] = Path(".field"),
) -> None:
    """Judge servers that others make; exits with 1 where something is found that isn't known, or a server can't run."""
    servers = listed()
    if strange := set(names or ()) - set(servers) - ({SCRIPTED} if outside else set()):
        raise typer.BadParameter(f"there is no {', '.join(sorted(strange))}; there are {', '.join(servers)}")
    if outside:
        try:
            ask(names or [], folder.absolute())
        except Failed as error:
            console.print(str(error), style="red", markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        return
    failed = []
    for name in names or (name for name, server in servers.items() if server.run):
        console.print(f"\n[bold]{servers[name].title}[/bold]")
        try:
            report = judged(name, servers[name], folder.absolute(), again=again)
        except Failed as error:
            console.print(str(error), style="red", markup=False, soft_wrap=True)
            failed.append(name)
            continue
        if note:
            noted(name, report)
        elif not compared(name, report):
            failed.append(name)
    if failed:
        console.print(f"\nnot as it is known: {', '.join(failed)}", style="red")
        raise typer.Exit(1)


def judged(name: str, server: Listed, folder: Path, *, again: bool) -> Report:
    """Returns the report on a server. Raises Failed."""
    file = folder / f"{name}.ndjson"
    if again:
        if not file.exists():
            raise Failed(f"there is no last report in {file}")
        return read(file)
    with installed(server, folder / name) as (url, places):
        options = ["--server", server.title, "--ndjson", str(file), "--quiet"]
        options += [filled(word, places) for word in server.conform]
        command = [sys.executable, "-m", "specvino.cli", "conform", url, *options]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise Failed(f"it can't be judged: {done.stderr[-2000:]}")
    file.write_text(anonymous(file.read_text("utf-8"), folder), encoding="utf-8")
    return read(file)


def compared(name: str, report: Report) -> bool:
    """Prints what isn't known; returns whether all is."""
    baseline = known(name)
    report = marked(report, baseline)
    for fault in faults(report.lines):
        console.print(f"new: {fault.head.rule}: {fault.head.why[:300]}", style="red", markup=False, soft_wrap=True)
        for line in fault.others:
            console.print(f"     {line.rule}", style="dim", markup=False, soft_wrap=True)
    for rule in baseline.unneeded(report.lines):
        console.print(f"no longer found: {rule}", style="yellow", markup=False, soft_wrap=True)
    _say(report)
    return not any(line.verdict in BAD and not line.accepted for line in report.lines)


def noted(name: str, report: Report) -> None:
    """Writes what is known from now on, and the report for the portal."""
    baseline = updated(report, known(name))
    report = slim(marked(report, baseline))
    with published(name).open("wb") as file:
        for record in (report.header, *report.lines, report.footer):
            if record is not None:
                file.write(as_line(record))
    path = write(name, baseline)
    PAGE.write_text(page(), encoding="utf-8")
    for rule in unread(baseline):
        console.print(
            f"how true it is has to be noted in {path.name}: {rule}", style="yellow", markup=False, soft_wrap=True
        )
    _say(report)


def _say(report: Report) -> None:
    broken = [line for line in report.lines if line.verdict in BAD]
    seconds = report.footer.seconds if report.footer else 0
    of = f"{len(faults(report.lines, accepted=True)) + len(faults(report.lines))} faults, told by {len(broken)} rules"
    console.print(f"{of} of {len(report.lines)}; {seconds:.0f} s")


if __name__ == "__main__":
    typer.run(main)
