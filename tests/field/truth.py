"""What is known of a server: each finding that somebody read, with its truth. It is a baseline of `specvino conform`,
in known/."""

from pathlib import Path

from field.listing import HERE
from specvino.conformance.reports.baseline import Baseline, read
from specvino.conformance.reports.faults import faults
from specvino.conformance.reports.records import BAD, ExchangeRecord, FindingRecord, Line, Report

KNOWN = HERE / "known"

# What stands for the truth of a rule that tells of the same fault as another.
AS = "As "

# What is published of an exchange: so many characters of a body, and of the command.
MOST_SHOWN = 700


def known(name: str) -> Baseline:
    """Returns what is known of a server: nothing of one that is new."""
    file = KNOWN / f"{name}.yaml"
    return read(file) if file.exists() else Baseline()


def unmarked(line: Line) -> Line:
    """Returns a line as it is without any baseline."""
    findings = tuple(finding.model_copy(update={"accepted": False}) for finding in line.findings)
    return line.model_copy(update={"accepted": False, "note": "", "findings": findings})


def marked(report: Report, baseline: Baseline) -> Report:
    """Returns a report with what the baseline says."""
    lines = [baseline.mark(unmarked(line)) if line.verdict in BAD else line for line in report.lines]
    return Report(report.header, [line.model_copy(update={"fails": False}) for line in lines], report.footer)


def slim(report: Report) -> Report:
    """Returns a report with what shows each finding at least: its first exchange, cut."""
    return Report(report.header, list(map(_slim, report.lines)), report.footer)


def _slim(line: Line) -> Line:
    most = 0 if line.note.startswith(AS) else MOST_SHOWN  # the rule that it refers to shows the same

    def slim(finding: FindingRecord) -> FindingRecord:
        return finding.model_copy(
            update={"exchanges": tuple(_shorter(exchange, most) for exchange in finding.exchanges[:1])}
        )

    return line.model_copy(update={"findings": tuple(map(slim, line.findings))})


def _shorter(shown: ExchangeRecord, most: int) -> ExchangeRecord:
    def cut(text: str) -> str:
        return text if len(text) <= most else f"{text[:most]}…" if most else ""

    sent = shown.request.model_copy(update={"headers": {}, "body": cut(shown.request.body or "")})
    came = shown.response
    if came is not None:
        kept = {name: value for name, value in came.headers.items() if name == "content-type"}
        came = came.model_copy(update={"headers": kept, "body": cut(came.body)})
    return shown.model_copy(update={"request": sent, "response": came, "curl": cut(shown.curl)})


def updated(report: Report, before: Baseline) -> Baseline:
    """Returns what is known after a run: its findings, each with the truth that was noted before. Rules that tell of a
    fault as others do refer to the first; a fault whose truth nobody noted has none."""
    bad = {line.rule for line in report.lines if line.verdict in BAD}
    after = {rule: entry for rule, entry in before.updated(report.lines).accepted.items() if rule in bad}
    notes = {}
    all_faults = faults(map(unmarked, report.lines))
    heads = {fault.head.rule for fault in all_faults}  # a rule may report several faults
    for fault in all_faults:
        for line in fault.others:
            if line.rule in heads:
                continue
            if after[line.rule].because.startswith(AS) or not after[line.rule].because:
                notes[line.rule] = f"{AS}{fault.head.rule}"
        if after[fault.head.rule].because.startswith(AS):
            notes[fault.head.rule] = ""
    return Baseline(
        accepted={
            rule: entry.model_copy(update={"because": notes.get(rule, entry.because)}) for rule, entry in after.items()
        }
    )


def unread(baseline: Baseline) -> list[str]:
    """Returns the rules whose findings nobody has read."""
    return [rule for rule, entry in baseline.accepted.items() if not entry.because]


def write(name: str, baseline: Baseline) -> Path:
    file = KNOWN / f"{name}.yaml"
    baseline.write(file)
    return file
