"""Whether a client program works with the server, from the report of a run with `--client`."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from specvino.conformance.cases.plan import matches
from specvino.conformance.clients.profile import Reliance, all_clients
from specvino.conformance.reports.records import BAD, Line, Report
from specvino.conformance.verdict import Severity, Verdict

# Verdicts of a rule that the server doesn't fulfil, whether by a fault or by a proper refusal.
_LACKING = (*BAD, Verdict.UNSUPPORTED)


class Readiness(StrEnum):
    """The verdict of a run for a client program: it works with the server as a whole, with limits, or not."""

    READY = "READY"
    LIMITED = "LIMITED"
    NOT_READY = "NOT READY"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a reliance in a run: the rules that are `broken`, and why others are `open`."""

    reliance: Reliance
    needed: bool
    broken: tuple[Line, ...]
    open: tuple[str, ...]

    @property
    def is_request(self) -> bool:
        """Whether the reliance is that a request of the client is answered."""
        return "/clients/" in self.reliance.rules[0]

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it isn't fulfilled; empty if it is."""
        return tuple(f"{line.rule}: {line.why}" for line in self.broken) or self.open


def lacks(line: Line, reliance: Reliance) -> bool:
    """Returns whether a line shows that the server doesn't fulfil a reliance. Advice counts only if it is named."""
    if line.accepted or line.verdict not in _LACKING or not matches(line.rule, reliance.rules):
        return False
    return line.severity is Severity.MUST or line.rule in reliance.rules


def outcomes(report: Report) -> tuple[Outcome, ...]:
    """Returns the outcome of each reliance of the report's client, in the order of its profile; none without a client,
    or for one that this version doesn't know."""
    client = all_clients().get(report.header.client)
    if client is None:
        return ()
    return tuple(
        Outcome(
            reliance,
            needed,
            tuple(line for line in report.lines if lacks(line, reliance)),
            tuple(_open(report, reliance)),
        )
        for reliance, needed in client.reliances()
    )


def _open(report: Report, reliance: Reliance) -> Iterator[str]:
    known = False
    for line in report.lines:
        if matches(line.rule, reliance.rules):
            known = True
            # Of many rules for all answers, some are never exercised.
            if line.verdict in (Verdict.NOT_EXERCISED, Verdict.SKIP) and line.rule in reliance.rules:
                yield f"{line.rule} wasn't judged: {line.why}"
    for rule, because in report.header.left_out.items():
        if rule in reliance.rules:
            known = True
            yield f"{rule} was left out: {because}"
    if not known:
        yield f"{', '.join(reliance.rules)} wasn't judged"


def readiness(report: Report) -> Readiness | None:
    """Returns the verdict of a run for a client; None for other runs. Without what a client needs it is `NOT READY`.
    Without what it uses, or if a need wasn't judged, it is `LIMITED`."""
    results = outcomes(report)
    if not results:
        return None
    if any(outcome.broken for outcome in results if outcome.needed):
        return Readiness.NOT_READY
    if any(outcome.broken or (outcome.needed and outcome.open) for outcome in results):
        return Readiness.LIMITED
    return Readiness.READY
