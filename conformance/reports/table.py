"""A run in the terminal: a live table, then the findings. With `verbose` the table stays, and rules without findings
are shown; without a terminal, `verbose` prints each rule as soon as it has a verdict."""

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from specvino.conformance.clients.profile import all_clients
from specvino.conformance.reports import inert
from specvino.conformance.reports.faults import Fault, faults
from specvino.conformance.reports.plain import cut
from specvino.conformance.reports.readiness import Readiness, outcomes, readiness
from specvino.conformance.reports.records import BAD, Header, Line, Report, by_subject, count, notes, totals
from specvino.conformance.verdict import Severity, Verdict

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "bold red",
    Verdict.UNSUPPORTED: "yellow",
    Verdict.NOT_EXERCISED: "dim",
    Verdict.SKIP: "dim",
    Verdict.ERROR: "magenta",
}

READINESS = {Readiness.READY: "bold green", Readiness.LIMITED: "bold yellow", Readiness.NOT_READY: "bold red"}

# The maximum length of a command in the terminal, in characters.
MAX_COMMAND = 1_000

# The largest number of a finding's exchanges in the terminal: a comparison has two.
MAX_EXCHANGES = 2


class LiveTable:
    """A live table of results, as a context manager. `cases` is the number of cases in the run, without rules for all
    answers. `requests` returns the number of requests sent so far."""

    def __init__(
        self, console: Console, report: Report, cases: int, requests: Callable[[], int], *, verbose: bool = False
    ) -> None:
        self._console = console
        self._verbose = verbose
        self._report = report
        self._cases = cases
        self._requests = requests
        self._begun = time.monotonic()
        self._live = Live(get_renderable=self._view, console=console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._console.is_terminal:
            self._live.stop()
            if self._verbose:
                self._console.print(table(self._report))

    def feed(self, line: Line) -> None:
        if self._verbose and not self._console.is_terminal:
            why = f": {brief(line.why)}" if line.why else ""
            text = f"{verdict_of(line)} {line.rule}{why}"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)

    def _view(self) -> RenderableType:
        rows = sum(len(by_subject(lines)) + 1 for lines in self._report.by_severity().values())
        # Six more lines are needed for the heading, the bar and the frame.
        has_room = rows + 6 <= self._console.height
        done = sum(not _is_extra(line) for line in self._report.lines)
        bar = Table.grid(padding=(0, 1))
        seconds = time.monotonic() - self._begun
        text = f"{done} of {self._cases} cases, {self._requests()} requests, {seconds:.0f} s"
        bar.add_row(ProgressBar(self._cases or 1, done, width=30), text)
        return Group(table(self._report, subjects=has_room), bar)


def _is_extra(line: Line) -> bool:
    return line.subject.endswith(("/rules", "/capabilities")) or line.layer == "fuzz"


def heading(header: Header) -> Text:
    text = Text(f"{header.title}\n", style="bold")
    layers = ", ".join(header.layers)
    text.append(f"judged by {header.judged_by}, profile {header.profile}: {layers}", style="dim")
    return text.append(f"\n{header.generated}", style="dim") if header.generated else text


def verdict_of(line: Line) -> str:
    """Returns the verdict, with the severity for a broken `should` rule."""
    return (
        f"{line.verdict} ({line.severity})"
        if line.verdict in BAD and line.severity is Severity.SHOULD
        else line.verdict
    )


def table(report: Report, *, subjects: bool = True) -> Table:
    """Returns a table with the number of rules by verdict, `must` rules first."""
    table = Table(box=None, padding=(0, 1), show_edge=False, header_style="dim")
    table.add_column("")
    for verdict in Verdict:
        table.add_column(str(verdict), justify="right")
    for severity, lines in report.by_severity().items():
        table.add_row(Text(severity, style="bold"))
        groups: dict[str, list[Line]] = {}
        for subject, subject_lines in by_subject(lines).items():
            groups.setdefault(subject if subjects else subject.split("/")[0], []).extend(subject_lines)
        for name, group in groups.items():
            counts = count(group)
            table.add_row(Text(name), *(Text(str(counts[verdict] or ""), style=STYLES[verdict]) for verdict in Verdict))
    return table


def show_findings(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Prints the findings, `must` rules last, next to the prompt; with `verbose` also accepted findings and missing
    verdicts."""
    all_faults = faults(report.lines)
    accepted_findings = {line.rule: sum(finding.accepted for finding in line.findings) for line in report.bad}
    for severity in reversed(Severity):
        for fault in all_faults:
            if fault.head.severity is severity:
                _print_fault(console, fault, accepted_findings[fault.head.rule])
    if not verbose:
        return
    accepted = [line for line in report.lines if line.accepted]
    if accepted:
        console.print()
    for line in accepted:
        text = Text(f"accepted {line.verdict} ", style="dim").append(f"{line.rule}: ", style="default")
        _print(console, text.append(brief(line.why)).append(f" ({line.note})" if line.note else "", style="dim"))
    for verdict in (Verdict.UNSUPPORTED, Verdict.NOT_EXERCISED, Verdict.SKIP):
        _without_verdict(console, verdict, [line for line in report.lines if line.verdict is verdict])


def _without_verdict(console: Console, verdict: Verdict, lines: list[Line]) -> None:
    """Prints rules without a verdict by the reason, which many rules may share."""
    reasons: dict[str, list[str]] = {}
    for line in sorted(lines, key=lambda item: item.rule):
        reasons.setdefault(brief(line.why), []).append(line.rule)
    for why, rules in reasons.items():
        console.print()
        _print(console, Text(f"{verdict} ", style=STYLES[verdict]).append(why, style="default"))
        console.print(Padding(Text(", ".join(rules), style="dim"), (0, 0, 0, 2)))


def _print_fault(console: Console, fault: Fault, accepted: int) -> None:
    console.print()
    _print(console, Text(fault.title, style="bold"))
    _print_line(console, fault.head)
    if accepted:
        _print(console, Text(f"  and {accepted} accepted by the baseline", style="dim"))
    if fault.others:
        _print(console, Text(f"  and {_number(len(fault.others), 'more rule')}:"))
    for message, lines in fault.messages().items():
        _print(console, Text(f"    {brief(message)}"))
        console.print(Padding(Text(", ".join(map(fault.name, lines)), style="dim"), (0, 0, 0, 6)))


def _print_line(console: Console, line: Line) -> None:
    _print(console, Text(f"{verdict_of(line)} ", style=STYLES[line.verdict]).append(line.rule, style="bold"))
    _print(console, Text(f"  {line.says}", style="dim"))
    if line.advice:
        _print(console, Text(f"  Reason for this advice: {line.advice} ({line.source})", style="dim"))
    if line.because:
        _print(console, Text(f"  {line.because}"))
    for finding in line.findings:
        _print(console, Text(f"  {finding.message}"))
        for exchange in finding.exchanges[:MAX_EXCHANGES]:
            _print(console, Text(f"  {exchange}", style="cyan"))
            _print(console, Text(f"  {cut(exchange.curl, MAX_COMMAND)}", style="dim"))
        if more := len(finding.exchanges[MAX_EXCHANGES:]):
            _print(console, Text(f"  and {more} more request{'s' * (more > 1)}", style="dim"))


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number > 1)}"


def show_readiness(console: Console, report: Report) -> None:
    """Prints whether the client of a run works with the server, and why not."""
    verdict = readiness(report)
    if verdict is None:
        return
    client = all_clients()[report.header.client]
    console.print()
    _print(console, Text(f"{client.title} {client.version}: ").append(verdict, style=READINESS[verdict]))
    answered = 0
    for outcome in outcomes(report):
        if outcome.is_request and not outcome.reasons:
            answered += 1
            continue
        style = "green" if not outcome.reasons else "dim" if not outcome.broken else "bold red"
        state = "ok" if not outcome.reasons else "open" if not outcome.broken else "lacks"
        text = Text("  needs " if outcome.needed else "  uses  ", style="dim").append(f"{state:6}", style=style)
        _print(console, text.append(outcome.reliance.because, style="default"))
        for reason in outcome.reasons:
            _print(console, Text(f"               {brief(reason)}", style="dim"))
    _print(console, Text(f"  {answered} of {len(client.requests)} recorded requests are answered", style="dim"))


def show_totals(console: Console, report: Report, stale: Iterable[str]) -> None:
    """Prints the totals. `stale` are messages about outdated entries of a baseline."""
    for rule in stale:
        _print(console, Text(inert.line(rule), style="yellow"))
    console.print()
    if report.shortcoming:
        _print(console, Text(report.shortcoming, style="bold red"))
    accepted = sum(line.accepted for line in report.lines)
    for total in totals(report):
        _print(console, Text(total, style="bold"))
    if all_faults := faults(report.lines):
        broken = len({line.rule for fault in all_faults for line in fault.lines})
        text = f"{_number(len(all_faults), 'fault')}, reported by {_number(broken, 'rule')}"
        _print(console, Text(text, style="bold"))
    remarks = [*([f"{accepted} accepted by the baseline"] if accepted else []), *notes(report.header)]
    if remarks:
        _print(console, Text("; ".join(remarks), style="dim"))
    if report.footer:
        _print(console, Text(f"{report.footer.requests} requests in {report.footer.seconds:.1f} s", style="dim"))


def brief(text: str) -> str:
    return cut(text, 300)


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True)
