"""The records of a report; `line.schema.json` is their JSON Schema. Times are in seconds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationInfo, field_validator

from specvino.conformance.message_shape import fault_of, shape_of
from specvino.conformance.reports import inert
from specvino.conformance.verdict import Severity, Verdict

# Verdicts of broken rules.
BAD = (Verdict.FAIL, Verdict.ERROR)

# Verdicts that depend on the server's behavior.
JUDGED = (Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.UNSUPPORTED)


class Record(BaseModel):
    """Base of all records. Their text is inert, in a run and in a report that somebody else wrote."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _inert(cls, value: Any, info: ValidationInfo) -> Any:
        # Only bodies have lines.
        return inert.remade(value, inert.block if info.field_name == "body" else inert.line)


class RequestRecord(Record):
    """A request. `body` may be truncated; `size` is its full length in bytes."""

    method: str
    url: str
    headers: dict[str, str]
    body: str | None = None
    size: int = 0


class ResponseRecord(Record):
    r"""An answer. `body` may be truncated; `size` is its full length in bytes. Bytes that aren't UTF-8 are written as
    `\xff`."""

    status: int
    headers: dict[str, str]
    body: str = ""
    size: int = 0


class ExchangeRecord(Record):
    """A request and its answer, which is null without one. `ended` is `complete`, or how the exchange ended early;
    `problem` has the details. `together` is whether its case sent other requests at the same time. `curl` is a command
    that repeats the request: of curl, or of wscat for a message on a WebSocket, whose method is `WS`."""

    number: int
    request: RequestRecord
    response: ResponseRecord | None
    ended: str
    problem: str | None = None
    retries: int = 0
    together: bool = False
    seconds: float
    curl: str

    def __str__(self) -> str:
        outcome = str(self.response.status) if self.response else self.problem or self.ended
        return f"{self.request.method} {self.request.url} -> {outcome}"


class FindingRecord(Record):
    """A violation, with the exchanges that show it. `accepted` is whether a baseline accepts it."""

    message: str
    exchanges: tuple[ExchangeRecord, ...] = ()
    accepted: bool = False

    @property
    def fault(self) -> str:
        """Returns the identity of the finding's fault, the same in all runs: method, path and status of the first
        exchange, and the message without its values."""
        if not self.exchanges:
            return shape_of(self.message)
        exchange = self.exchanges[0]
        status = exchange.response.status if exchange.response else None
        return fault_of(self.message, exchange.request.method, urlsplit(exchange.request.url).path, status)


class Generated(Record):
    """The options by which the layer `fuzz` generated requests; the same options generate the same requests.
    `max_examples` is the largest number of random requests per operation; `checks` are the checks that ran."""

    seed: int
    max_examples: int
    checks: tuple[str, ...]

    def __str__(self) -> str:
        return f"generated with --seed {self.seed} --max-examples {self.max_examples}"


class Header(Record):
    """The first record: what was tested, and against what. `server` is the server's name and version, such as
    `llama.cpp b11434`, or empty; `client` is the name of the client program that the run is for, or empty. `rules` is
    the version of the rules, empty in older reports; `document` is a digest of the dialect's document; `left_out` has
    the reason for each rule that isn't checked for the dialect; `replaced` has the fields that the model refuses, with
    the field that the run sends instead, or null if it sends none."""

    kind: Literal["header"] = "header"
    format: Literal[1] = 1
    tool: str
    server: str = ""
    client: str = ""
    url: str
    model: str
    rules: str = ""
    dialect: str
    document: str
    profile: str
    layers: tuple[str, ...]
    filters: tuple[str, ...] = ()
    started: Annotated[str, Field(description="UTC, ISO 8601.", json_schema_extra={"format": "date-time"})]
    fail_on: Annotated[Severity, Field(description="The severity from which broken rules make the run fail.")] = (
        Severity.MUST
    )
    generated: Generated | None = None
    left_out: dict[str, str] = {}
    replaced: dict[str, str | None] = {}

    @property
    def title(self) -> str:
        """Returns the server's name, or its model and URL."""
        return self.server or f"{self.model} at {self.url}"

    @property
    def judged_by(self) -> str:
        """Returns the rules and the document: `rules 1.0 and the document of openai`."""
        return (
            f"rules {self.rules} and the document of {self.dialect}"
            if self.rules
            else f"the document of {self.dialect}"
        )


class Line(Record):
    """The result of one rule. `judged` is the number of checked exchanges; `accepted` is whether a baseline accepts it,
    and `note` is the baseline's reason; `fails` is whether it makes the run fail. `follows` is the rule for all answers
    that the same answer breaks. `advice` and `source` are the reason and the source of a `should` rule."""

    kind: Literal["result"] = "result"
    rule: str
    layer: str
    says: str
    severity: Severity = Severity.MUST
    verdict: Verdict
    advice: str = ""
    source: str = ""
    spec: str = ""
    issues: tuple[Annotated[str, Field(pattern="^https://")], ...] = ()
    because: str = ""
    follows: str = ""
    findings: tuple[FindingRecord, ...] = ()
    judged: int = 0
    seconds: float = 0.0
    accepted: bool = False
    note: str = ""
    fails: bool = False

    @property
    def subject(self) -> str:
        """Returns the rule's id without its last part: `chat/stop`."""
        return self.rule.rsplit("/", 1)[0]

    @property
    def faults(self) -> tuple[str, ...]:
        """Returns the distinct faults of the findings; for a crashed check, that of its error."""
        shapes = [finding.fault for finding in self.findings] or [shape_of(self.because)]
        return tuple(sorted(set(shapes))) if self.verdict in BAD else ()

    @property
    def why(self) -> str:
        """Returns the first finding's message, or `because`."""
        return self.findings[0].message if self.findings else self.because


class FaultRecord(Record):
    """A fault: what broken rules have in common, as a title, and these rules, of which the first one is its cause or an
    example. `accepted` is whether a baseline accepts it."""

    title: str
    severity: Severity
    rules: tuple[str, ...]
    accepted: bool = False


class Footer(Record):
    """The last record. `complete` is false for a run that was interrupted, `lost` (the server became unreachable during
    that rule) or `limited` (it began to refuse every request with 429 during that rule); `time_up` is whether the time
    limit ended the run before all cases had run. (The layer `fuzz` always uses the remaining time.) `faults` are all
    faults; a rule may report several."""

    kind: Literal["footer"] = "footer"
    counts: Mapping[Severity, Mapping[Verdict, int]]
    requests: int
    seconds: float
    complete: bool
    lost: str | None = None
    limited: str | None = None
    time_up: bool = False
    faults: tuple[FaultRecord, ...] = ()


AnyRecord = Annotated[Header | Line | Footer, Field(discriminator="kind")]

RECORDS: TypeAdapter[Header | Line | Footer] = TypeAdapter(AnyRecord)


@dataclass(slots=True)
class Report:
    """The records of a run, possibly interrupted: then the footer is missing, or not `complete`."""

    header: Header
    lines: list[Line] = field(default_factory=list)
    footer: Footer | None = None

    @property
    def complete(self) -> bool:
        return self.footer is not None and self.footer.complete

    @property
    def covers_plan(self) -> bool:
        """Returns whether all rules of the plan were checked."""
        return not self.shortcoming

    @property
    def shortcoming(self) -> str:
        """Returns why the run isn't whole, as a sentence; empty if it is."""
        if self.footer is None:
            return "The report is incomplete: the run was interrupted, or the file is truncated."
        if self.footer.lost:
            return f"The server became unreachable during {self.footer.lost}."
        if self.footer.limited:
            return f"The server refuses every request with 429 since {self.footer.limited}."
        if not self.footer.complete:
            return "The run was interrupted."
        return "The time limit was reached before all rules were checked." if self.footer.time_up else ""

    @property
    def exit_code(self) -> int:
        """Returns the exit code of `specvino conform`: 1 for findings that aren't accepted, or an unreachable server; 2
        if the run isn't whole, or checked nothing; otherwise 0. If the server refuses every request with 429, it is 2
        whatever the findings, which may follow from that."""
        is_limited = self.footer is not None and self.footer.limited is not None
        if is_limited or not any(line.verdict in JUDGED for line in self.lines):
            return 2
        if any(line.fails for line in self.lines) or (self.footer is not None and self.footer.lost):
            return 1
        return 0 if self.covers_plan else 2

    @property
    def counts(self) -> dict[Severity, Counter[Verdict]]:
        return {severity: count(lines) for severity, lines in self.by_severity().items()}

    @property
    def bad(self) -> list[Line]:
        return [line for line in self.lines if line.verdict in BAD]

    def by_severity(self) -> dict[Severity, list[Line]]:
        """Returns the lines by severity, `must` first."""
        by_severity = {severity: [line for line in self.lines if line.severity is severity] for severity in Severity}
        return {severity: lines for severity, lines in by_severity.items() if lines}


def by_subject(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Returns lines by subject, sorted by rule."""
    groups: dict[str, list[Line]] = {}
    for line in sorted(lines, key=lambda item: item.rule):
        groups.setdefault(line.subject, []).append(line)
    return groups


def count(lines: Sequence[Line]) -> Counter[Verdict]:
    return Counter(line.verdict for line in lines)


def totals(report: Report) -> list[str]:
    """Returns a text for each severity, as in `must: 142 pass · 3 fail of 145`."""
    return [f"{severity}: {total(counts)}" for severity, counts in report.counts.items()] or [f"must: {total({})}"]


def total(counts: Mapping[Verdict, int]) -> str:
    """Returns the counts as in `142 pass · 3 fail of 145`, always with their sum."""
    parts = [f"{counts.get(verdict, 0)} {verdict}" for verdict in Verdict if counts.get(verdict) or verdict in SHOWN]
    return f"{' · '.join(parts)} of {sum(counts.values())}"


# Verdicts that totals show even if the count is 0.
SHOWN = (Verdict.PASS, Verdict.FAIL)


def notes(header: Header) -> Iterator[str]:
    """Yields a text for each field that was replaced, and for each reason why rules are left out, as in `23 left out,
    not in the dialect openai`."""
    for name, instead in header.replaced.items():
        yield f"the model refuses {name}: {instead} was sent" if instead else f"the model refuses {name}: none was sent"
    reasons = Counter(
        because if because == "no key was given" else f"not in the dialect {header.dialect}"
        for because in header.left_out.values()
    )
    for because, number in reasons.items():
        yield f"{number} left out, {because}"


def summary(report: Report) -> str:
    """Returns all totals in one line."""
    return "; ".join([*totals(report), *notes(report.header)])
