"""The report of a fuzz run."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from specvino.conformance.http.exchange import Exchange

Ended = Literal["completed", "max_time", "interrupted", "server_unavailable"]

# The maximum length of a shown request or answer, in characters; some are megabytes.
LONGEST_SHOWN = 2000


# The largest number of example refusals per operation.
MAX_REFUSALS = 5


@dataclass(frozen=True, slots=True)
class FuzzFinding:
    """One failure of a check. `curl` is a command that repeats the request."""

    operation: str
    check: str
    message: str
    curl: str
    exchange: Exchange

    def __str__(self) -> str:
        answer = f"{self.exchange.status} {self.exchange.content.decode('utf-8', 'replace')}"
        shown = (_cut(text) for text in (self.message, self.curl, answer))
        return "\n  ".join([f"{self.operation}: {self.check}", *shown])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}... ({len(text)} characters)"


@dataclass(slots=True)
class FuzzReport:
    """The findings and counts of a run. `cases` counts requests by (phase, operation, status); `checked` counts
    applications of checks by (operation, check); `excused` counts justified refusals of valid requests by (operation,
    code). `unanswered` are requests without an answer, `errors` are failures of the run itself, both as (operation,
    message)."""

    cases: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    checked: Counter[tuple[str, str]] = field(default_factory=Counter)
    excused: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[FuzzFinding] = field(default_factory=list)
    unanswered: list[tuple[str, str]] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    valid: Counter[str] = field(default_factory=Counter)
    """Valid requests whose answers were checked, by operation."""
    invalid: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    """Valid requests that only refer to existing objects and were answered with a 2xx, by operation."""
    refused: Counter[str] = field(default_factory=Counter)
    """Such requests that were answered with a 4xx."""
    refusals: dict[str, list[Exchange]] = field(default_factory=dict)
    """Examples of these, up to MAX_REFUSALS."""
    ended: Ended = "completed"
    unlimited: int = 0
    """Valid requests for free text without a token limit."""
    limited: int = 0
    """The number of these that got a limit before they were sent."""
    with_stored_id: int = 0
    """Requests that were changed to refer to a stored response."""

    @property
    def clean(self) -> bool:
        return not self.findings and not self.unanswered and not self.errors

    @property
    def checks(self) -> Counter[str]:
        """Returns the number of applications of each check."""
        applications: Counter[str] = Counter()
        for (_, check), number in self.checked.items():
            applications[check] += number
        return applications

    def count(self, *, operation: str | None = None, phase: str | None = None, status: int | None = None) -> int:
        """Returns the number of requests with these properties."""
        return sum(
            number
            for (its_phase, its_operation, its_status), number in self.cases.items()
            if operation in (None, its_operation) and phase in (None, its_phase) and status in (None, its_status)
        )

    def excused_of(self, operation: str) -> int:
        """Returns the number of justified refusals of an operation's valid requests."""
        return sum(number for (its_operation, _), number in self.excused.items() if its_operation == operation)

    def lines(self) -> Iterator[str]:
        """Yields a summary for people: requests by operation and status, refusals, findings."""
        statuses = sorted({status for _, _, status in self.cases})
        yield "  ".join([f"{'operation':32}", *(f"{status:>5}" for status in statuses)])
        for operation in sorted({operation for _, operation, _ in self.cases}):
            counts = (self.count(operation=operation, status=status) for status in statuses)
            yield "  ".join([f"{operation:32}", *(f"{count or '':>5}" for count in counts)])
        yield f"{self.limited} of {self.unlimited} valid requests for free text without a token limit got one"
        yield f"{self.with_stored_id} requests were changed to refer to a stored response"
        for (operation, code), number in sorted(self.excused.items()):
            yield f"excused {number:>5} x {code} of {operation}"
        yield from (f"{operation}: {problem}" for operation, problem in (*self.unanswered, *self.errors))
        yield from map(str, self.findings)
