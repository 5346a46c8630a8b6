"""A comparison of two servers in the terminal."""

from collections.abc import Iterator
from itertools import groupby

from rich.console import Console
from rich.text import Text

from specvino.conformance.reports import inert
from specvino.conformance.reports.faults import Fault, faults
from specvino.conformance.reports.plain import cut
from specvino.conformance.reports.records import BAD, Line, Report, notes
from specvino.conformance.reports.table import MAX_COMMAND, MAX_EXCHANGES, brief
from specvino.conformance.two_servers.run import Parity
from specvino.conformance.two_servers.tally import ONLY, subject_of
from specvino.conformance.verdict import Severity

# The maximum length of a message in the terminal, in characters: it may name many fields.
LONGEST = 1_000


def show_differences(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Prints the differences, advice first, with the commands that show them; with `verbose` also accepted ones. Those
    that one pair of answers shows are together, and each is shown once, for the endpoint that has it first."""
    for severity in reversed(Severity):
        for accepted in (True, False) if verbose else (False,):
            together: dict[tuple[str, ...], list[Fault]] = {}
            for fault in faults(report.lines, accepted=accepted):
                if fault.head.severity is severity:
                    together.setdefault((_subject(fault.head), *_commands(fault.head)), []).append(fault)
            for (subject, *commands), group in together.items():
                console.print()
                word, style = ("differs", "bold red") if severity is Severity.MUST else ("advice ", "yellow")
                text = Text(f"{word} ", style=style).append(subject, style="bold")
                _print(console, text.append(" accepted" if accepted else "", style="dim"))
                for because, messages in _messages(group).items():
                    for message in messages:
                        _print(console, Text(f"  {cut(message, LONGEST)}"))
                    if because:
                        _print(console, Text(f"  {brief(because)}", style="dim"))
                if elsewhere := sorted({_subject(line) for fault in group for line in fault.others} - {subject}):
                    _print(console, Text(f"  also in {brief(', '.join(elsewhere))}", style="dim"))
                for command in commands:
                    _print(console, Text(f"  {cut(command, MAX_COMMAND)}", style="dim"))


def _subject(line: Line) -> str:
    return subject_of(line.rule) if "/parity/" in line.rule else line.rule


def _commands(line: Line) -> tuple[str, ...]:
    return tuple(exchange.curl for finding in line.findings[:1] for exchange in finding.exchanges[:MAX_EXCHANGES])


def _messages(group: list[Fault]) -> dict[str, list[str]]:
    """Returns the messages of differences by the requests that show them. Fields that only one server has, with values
    of the same types, are one message."""
    messages: dict[str, list[str]] = {}
    for because, together in groupby(sorted(group, key=_because), _because):
        names: dict[str, list[str]] = {}
        shown = (line for fault in together for line in fault.lines if line is fault.head or not line.follows)
        for message in dict.fromkeys(finding.message for line in shown for finding in line.findings):
            name, only, side = message.partition(ONLY)
            names.setdefault(f"only at {side}" if only else message, []).extend([name] * bool(only))
        messages[because] = [f"{text}: {', '.join(of)}" if of else text for text, of in names.items()]
    return messages


def _because(fault: Fault) -> str:
    return fault.head.because


def show_summary(console: Console, parity: Parity, unneeded: Iterator[str]) -> None:
    """Prints how much was compared, and how many differences there are. `unneeded` are texts about a baseline."""
    report = parity.report
    for text in unneeded:
        _print(console, Text(inert.line(text), style="yellow"))
    console.print()
    if report.shortcoming:
        _print(console, Text(report.shortcoming, style="bold red"))
    new, accepted = faults(report.lines), faults(report.lines, accepted=True)
    must = sum(fault.head.severity is Severity.MUST for fault in new)
    parts = [_counted(must, "difference"), *([f"{len(new) - must} of advice"] if len(new) > must else [])]
    parts += [f"{len(accepted)} accepted by the baseline"] if accepted else []
    _print(console, Text(", ".join(parts), style="bold"))
    _print(console, Text(f"{_counted(parity.tally.compared, 'request')} compared in {parity.done} cases"))
    for line in report.lines:
        if line.verdict not in BAD and line.because:
            _print(console, Text(f"{line.says} ({line.because})", style="dim"))
    if remarks := "; ".join(notes(report.header)):
        _print(console, Text(remarks, style="dim"))
    if report.footer:
        _print(
            console,
            Text(f"{_counted(report.footer.requests, 'request')} in {report.footer.seconds:.1f} s", style="dim"),
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True)
