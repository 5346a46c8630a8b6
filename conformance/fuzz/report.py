"""The report of a fuzz run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from specvino.conformance.http.exchange import Exchange

Ended = Literal["completed", "max_time", "interrupted", "server_unavailable"]

# Characters of a request or an answer in a terminal; some are megabytes.
LONGEST_SHOWN = 2000


MOST_REFUSALS = 5


@dataclass(frozen=True, slots=True)
class FuzzFinding:
    """One failure of one check. `curl` is a command that repeats the request."""

    operation: str
    check: str
    message: str
    curl: str
    exchange: Exchange

    def __str__(self) -> str:
        came = f"{self.exchange.status} {self.exchange.content.decode('utf-8', 'replace')}"
        shown = (_cut(text) for text in (self.message, self.curl, came))
        return "\n  ".join([f"{self.operation}: {self.check}", *shown])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(text)} characters)"


@dataclass(slots=True)
class FuzzReport:
    """The findings and counts of a run. `cases` counts requests by phase, operation and status; `checked` the
    applications of a check, by operation and check; `excused` refusals of valid requests that are no finding, by
    operation and code. `silences` are requests without an answer, `errors` failures of the run itself, both with the
    operation."""

    cases: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    checked: Counter[tuple[str, str]] = field(default_factory=Counter)
    excused: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[FuzzFinding] = field(default_factory=list)
    silences: list[tuple[str, str]] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    valid: Counter[str] = field(default_factory=Counter)
    """Valid requests whose answers were checked, by operation."""
    invalid: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    """Valid requests that refer to existing objects only and were answered with a 2xx, by operation."""
    refused: Counter[str] = field(default_factory=Counter)
    """Those that were answered with a 4xx."""
    refusals: dict[str, list[Exchange]] = field(default_factory=dict)
    """The first few of them."""
    ended: Ended = "completed"
    unlimited: int = 0
    """Valid requests for free text that have no token limit of their own."""
    limited: int = 0
    """The number of these that got one before they were sent."""
    with_stored_id: int = 0
    """The number of requests that were changed to refer to a stored response."""

    @property
    def clean(self) -> bool:
        return not self.findings and not self.silences and not self.errors

    @property
    def checks(self) -> Counter[str]:
        """Returns the number of requests that each check was applied to."""
        counted: Counter[str] = Counter()
        for (_, check), number in self.checked.items():
            counted[check] += number
        return counted

    def count(self, *, operation: str | None = None, phase: str | None = None, status: int | None = None) -> int:
        """Returns the number of requests of this kind."""
        return sum(
            number
            for (its_phase, its_operation, its_status), number in self.cases.items()
            if operation in (None, its_operation) and phase in (None, its_phase) and status in (None, its_status)
        )

    def excused_of(self, operation: str) -> int:
        """Returns the number of refusals of an operation's valid requests that are no finding."""
        return sum(number for (its_operation, _), number in self.excused.items() if its_operation == operation)

    def lines(self) -> Iterator[str]:
        """Yields lines for people about requests by operation and status, refusals and findings."""
        statuses = sorted({status for _, _, status in self.cases})
        yield "  ".join([f"{'operation':32}", *(f"{status:>5}" for status in statuses)])
        for operation in sorted({operation for _, operation, _ in self.cases}):
            counts = (self.count(operation=operation, status=status) for status in statuses)
            yield "  ".join([f"{operation:32}", *(f"{count or '':>5}" for count in counts)])
        yield f"{self.limited} of {self.unlimited} valid requests for free text without a limit of tokens got one"
        yield f"{self.with_stored_id} requests were given a stored response"
        for (operation, code), number in sorted(self.excused.items()):
            yield f"excused {number:>5} x {code} of {operation}"
        yield from (f"{operation}: {problem}" for operation, problem in (*self.silences, *self.errors))
        yield from map(str, self.findings)
