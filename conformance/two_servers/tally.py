"""Counts the differences of two servers, and turns them into lines of a report."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.message_shape import shape_of
from specvino.conformance.reports.convert import Converter
from specvino.conformance.reports.records import ExchangeRecord, FindingRecord, Line
from specvino.conformance.two_servers.comparison import NOT_MADE, VALUES, Difference, Differences, is_for_people
from specvino.conformance.two_servers.headers import CONNECTION, is_acted_on
from specvino.conformance.two_servers.observation import LATER, Kind, Location, Observation
from specvino.conformance.verdict import Advice, Severity, Verdict

# The largest number of lines with differences, and of a line's findings; further ones are only counted.
MOST_ROWS = 500
MOST_FINDINGS = 5

# The number of requests after which a difference of a value, which a server may draw, isn't confirmed any more.
ENOUGH = 3

# The kinds of locations that depend on what a server draws, as the last event of a response does.
SHAPES = (Kind.FIELD, Kind.EVENT, Kind.EVENT_FIELD)

# The largest number of types of fields that are kept of a server.
MOST_TYPES = 100_000

# The largest number of types of events that a line names.
MOST_NAMED = 5

SAYS = {
    Kind.STATUS: "Both servers answer with the same status.",
    Kind.HEADER: "Answers have the same headers.",
    Kind.BODY: "Answers are JSON, a stream, text or empty at both servers.",
    Kind.ERROR: "Errors have the same fields, types, codes and params.",
    Kind.FIELD: "Answers have the same fields, with values of the same types.",
    Kind.VALUE: "The fields of answers have the same values.",
    Kind.STREAM_VALUE: "The fields of joined streams have the same values.",
    Kind.EVENT: "Streams have events of the same types.",
    Kind.ORDER: "The types of events have the same order.",
    Kind.EVENT_FIELD: "Events have the same fields, with values of the same types.",
    Kind.EVENT_VALUE: "The fields of events that come once have the same values.",
    Kind.DRAWN: "A repeated request with temperature 0 gets the same answer.",
}

# What is between the name of a field and the server that alone has it.
ONLY = " is only at "

FOR_PEOPLE = Advice(
    "Programs act by an error's status, type and code; only people read its text.",
    "/components/schemas/Error/properties/message",
)
IGNORED = Advice(
    "Recipients ignore header fields that they don't know, but operators may rely on one.",
    "https://www.rfc-editor.org/rfc/rfc9110#section-5.1",
)
UNSTEADY = Advice(
    "Tests and caches of clients rely on answers that are the same, which no document promises.",
    "/components/schemas/CreateChatCompletionRequest/properties/temperature",
)


def advice_of(location: Location, pair: Difference) -> Advice | None:
    """Returns why a difference is only advice; None if it isn't."""
    if is_for_people(location, pair):
        return FOR_PEOPLE
    if location.kind is Kind.DRAWN:
        return UNSTEADY
    return IGNORED if location.kind is Kind.HEADER and not is_acted_on(location.where) else None


class Key(NamedTuple):
    """The identity of a difference. `values` are those of a field with few values, such as a finish reason; None for
    any values."""

    rule: str
    greedy: bool
    values: frozenset[str] | None


@dataclass(slots=True)
class Row:
    """A difference that answers of one endpoint have in common. `case` is the first one that shows it; `advice` is why
    it is only advice."""

    location: Location
    case: str
    advice: Advice | None
    requests: int = 0
    is_drawn: bool = True
    """Whether a server gives another answer each time to all requests that show it."""
    pairs: set[Difference] = field(default_factory=set)
    events: set[str] = field(default_factory=set)
    findings: dict[str, FindingRecord] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """The differences of a run. The converters are those of the two servers."""

    converters: tuple[Converter, Converter]
    compared: int = 0
    """The number of requests whose answers were compared."""
    drawn: int = 0
    """The number of those to which a server gives another answer each time."""
    more: int = 0
    """The number of differences that have no line, since there are MOST_ROWS."""
    _counts: Counter[tuple[str, Kind]] = field(default_factory=Counter)
    _rows: dict[Key, Row] = field(default_factory=dict)
    _drawn: set[Key] = field(default_factory=set)
    _types: tuple[set[tuple[str, Location, str]], ...] = field(default_factory=lambda: (set(), set()))
    """The types of fields and events that each server has shown, by endpoint and location."""

    def is_known(self, location: Location, pair: Difference, endpoint: str) -> bool:
        """Returns whether a difference was found often enough that it needn't be confirmed again."""
        rows = [self._rows.get(key_of(location, pair, endpoint, greedy=greedy)) for greedy in (False, True)]
        return sum(row.requests for row in rows if row) >= (ENOUGH if location.kind in VALUES else 1)

    def count(self, endpoint: str, *observed: Observation) -> None:
        """Counts the kinds that were compared of the answers to one request."""
        self.compared += 1
        kinds = {location.kind for seen in observed for location in (*seen.facts, *seen.values)}
        kinds |= {Kind.ORDER} if any(seen.orders for seen in observed) else set()
        self._counts.update((_endpoint(kind, endpoint), kind) for kind in kinds)
        for types, seen in zip(self._types, observed, strict=True):
            if len(types) < MOST_TYPES:
                types |= {
                    (endpoint, location, text) for location, text in seen.facts.items() if location.kind in SHAPES
                }

    def add(
        self, case: str, endpoint: str, differing: Differences, one: Exchange, other: Exchange, *, is_drawn: bool
    ) -> None:
        """Adds the differences of the answers to one request. `is_drawn` is whether a server gives another answer each
        time."""
        greedy, counted = is_greedy(one), set()
        for location, pair in differing.items():
            key = key_of(location, pair, endpoint, greedy=greedy)
            if key not in self._rows and len(self._rows) >= MOST_ROWS:
                self.more += 1
                continue
            row = self._rows.setdefault(key, Row(location, case, advice_of(location, pair)))
            row.requests += key not in counted
            counted.add(key)
            row.advice = row.advice and advice_of(location, pair)
            row.is_drawn &= is_drawn
            row.pairs.add(pair)
            row.events |= {location.of.removesuffix(LATER)} - {""}
            message = message_of(location, pair)
            if shape_of(message) not in row.findings and len(row.findings) < MOST_FINDINGS:
                row.findings[shape_of(message)] = self._finding(message, one, other)

    def draw(self, endpoint: str, drawn: Mapping[Location, set[Difference]], request: Exchange) -> None:
        """Notes where the answers to a request differ from one repetition to the next."""
        values = {location: pairs for location, pairs in drawn.items() if location.kind in VALUES}
        self.drawn += bool(values)
        greedy = is_greedy(request)
        self._drawn |= {
            key_of(location, pair, endpoint, greedy=greedy) for location, pairs in values.items() for pair in pairs
        }

    def _is_shown_by_both(self, key: Key, row: Row) -> bool:
        """Returns whether other answers of each server have what the other one has here, and only drawn ones differ: a
        response ends by another event if the drawn text is too long, and its `completed_at` is null."""
        endpoint = key.rule.partition("/")[0]
        a, b = self._types
        return row.is_drawn and all(
            (not pair.b or (endpoint, row.location, pair.b) in a)
            and (not pair.a or (endpoint, row.location, pair.a) in b)
            for pair in row.pairs
        )

    def _finding(self, message: str, one: Exchange, other: Exchange) -> FindingRecord:
        return FindingRecord(message=self.converters[0].text(message), exchanges=self.exchanges(one, other))

    def exchanges(self, one: Exchange, other: Exchange) -> tuple[ExchangeRecord, ExchangeRecord]:
        return self.converters[0].exchange(one.excerpt()), self.converters[1].exchange(other.excerpt())

    def lines(self) -> Iterator[Line]:
        """Yields a line for each difference, and one for each kind without any. What a server draws in the answer to
        one request isn't compared in others, either: of requests with temperature 0, or of those without."""
        lines: list[Line] = []
        # By the path and the difference of a field, which events have within another object.
        fields: dict[tuple[str, ...], str] = {}
        by_rule: dict[str, list[Row]] = {}
        for key, row in self._rows.items():
            if key not in self._drawn and not self._is_shown_by_both(key, row):
                by_rule.setdefault(key.rule, []).append(row)
        for rule, rows in by_rule.items():
            lines.append(line := self._line(rule, rows))
            if rows[0].location.kind is Kind.FIELD:
                where = rows[0].location.where
                fields.setdefault((where, *_without(where, line)), rule)
        for line in lines:
            yield line.model_copy(update={"follows": _cause(line, fields)})
        broken = {subject_of(line.rule) for line in lines}
        for (endpoint, kind), number in sorted(self._counts.items()):
            if (rule := f"{endpoint}/parity/{kind}") not in broken:
                yield Line(rule=rule, layer="parity", says=SAYS[kind], verdict=Verdict.PASS, judged=number)

    def _line(self, rule: str, rows: list[Row]) -> Line:
        location, text = rows[0].location, self.converters[0].text
        requests = sum(row.requests for row in rows)
        events = {name for row in rows for name in row.events}
        because = f"in {requests} request{'s' * (requests > 1)}, first of {rows[0].case}"
        because += f"; in the events {_named(events)}" if events else ""
        findings = {shape: finding for row in rows for shape, finding in row.findings.items()}
        advice = rows[0].advice if all(row.advice for row in rows) else None
        return Line(
            rule=text(rule),
            layer="parity",
            says=SAYS[location.kind],
            severity=Severity.SHOULD if advice else Severity.MUST,
            verdict=Verdict.FAIL,
            advice=advice.because if advice else "",
            source=advice.source if advice else "",
            because=text(because),
            findings=tuple(findings.values())[:MOST_FINDINGS],
            judged=self._counts[_endpoint(location.kind, rule.partition("/")[0]), location.kind],
        )


def key_of(location: Location, pair: Difference, endpoint: str, *, greedy: bool) -> Key:
    """Returns what identifies a difference, in requests with temperature 0 or without."""
    is_constant = location.where.rpartition(".")[2] in NOT_MADE
    return Key(rule_of(location, pair, endpoint), greedy, frozenset(pair) if is_constant else None)


def is_greedy(exchange: Exchange) -> bool:
    """Returns whether a request says that nothing is drawn."""
    request = exchange.request
    return bool(request.asked("temperature") == 0 or request.asked("top_k") == 1)


def rule_of(location: Location, pair: Difference, endpoint: str) -> str:
    """Returns the id of a difference: `chat/parity/field/choices.*.message.refusal`."""
    where = location.where or "answer"
    if location.kind is Kind.STATUS:
        where = "-".join(side.partition(" ")[0].rstrip(":") for side in pair)
    return f"{_endpoint(location.kind, endpoint)}/parity/{location.kind}/{where}"


def subject_of(rule: str) -> str:
    """Returns what the rules of differences of one kind and endpoint have in common."""
    return "/".join(rule.split("/")[:3])


def _cause(line: Line, fields: Mapping[tuple[str, ...], str]) -> str:
    """Returns the rule of the same difference in unary answers, for one in events; empty if there is none."""
    where = line.rule.removeprefix(f"{subject_of(line.rule)}/")
    if not subject_of(line.rule).endswith(f"/{Kind.EVENT_FIELD}"):
        return ""
    names = where.split(".")
    suffixes = (".".join(names[start:]) for start in range(len(names)))
    return next((fields[key] for suffix in suffixes if (key := (suffix, *_without(where, line))) in fields), "")


def _without(where: str, line: Line) -> Iterator[str]:
    """Yields the messages of a line without the path at their beginning."""
    return (finding.message.removeprefix(where) for finding in line.findings)


def _endpoint(kind: Kind, endpoint: str) -> str:
    return "transport" if kind is Kind.HEADER else endpoint


def _named(names: set[str]) -> str:
    """Returns the first names, and how many more there are."""
    shown = sorted(names)
    more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
    return f"{', '.join(shown[:MOST_NAMED])}{more}"


def message_of(location: Location, pair: Difference) -> str:
    """Returns a difference as a sentence."""
    only = "" if pair.a and pair.b else "A" if pair.a else "B"
    both = f"is {pair.a} at A and {pair.b} at B"
    match location.kind:
        case Kind.STATUS:
            return f"the status {both}"
        case Kind.HEADER if location.where == CONNECTION:
            return f"the connection {both}"
        case Kind.HEADER:
            return f"the header {location.where}{ONLY}{only}" if only else f"the header {location.where} {both}"
        case Kind.EVENT:
            how = f"only at {only}" if only else f"{pair.a} at A and {pair.b} at B"
            return f"events of the type {location.where} are {how}"
        case Kind.ORDER:
            return f"the order of events {both}"
        case Kind.DRAWN:
            return f"the answer to a repeated request with temperature 0 {both}"
        case Kind.BODY:
            return f"the body {both}"
        case Kind.STREAM_VALUE if not location.where:
            return f"only at {only}, {pair.a or pair.b}" if only else f"the joined stream {both}"
    name = location.where or "the answer"
    return f"{name}{ONLY}{only}, {pair.a or pair.b}" if only else f"{name} {both}"
