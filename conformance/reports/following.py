"""Consequences: findings that follow from another one, such as a missing object, a failed answer, calls with one
index."""

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from specvino.conformance.reports.causes import Cause, Kind, without_values
from specvino.conformance.reports.meanings import (
    ABSENT,
    ARGUMENTS,
    COUNTED,
    WITHOUT_CALL,
    causes,
    endpoint_of,
    is_refused_in_stream,
    is_sent,
    lacks,
    reason_of,
    refusal_of,
    repeated,
    route_of,
    status_of,
)
from specvino.conformance.reports.records import ExchangeRecord, FindingRecord, Line
from specvino.conformance.reports.unread import is_earlier
from specvino.document.operations import FRAMINGS

# The message about an answer that is longer than it may be.
THOUGH_LIMITED = re.compile(r", though (?:max_\w+|num_predict) is \d")

# The messages about streams whose choices aren't ended.
NOT_ENDED = re.compile(r"^an event has no known content$| before choice \d+ was closed by finish$")

# The message about a stored response that is read as another one, such as that of a stream.
READ_BACK = re.compile(r"^the (?P<name>\w+) differs: .* in the answer, .* when read$", re.DOTALL)

# The messages about the items of an output as a whole.
WHOLE_OUTPUT = re.compile(r"^the output differs: |^output is (?:wrong: |['\"]?\[)|, but output is '\[")

# The message about arguments of several calls in one, or about another item in the place of one.
JOINED = re.compile(r"^the arguments of .*\}\{|^item[._]id of item \d+ was '.*' and is now '", re.DOTALL)

# The message about an answer that names another response than its request.
OF_ID = re.compile(r"^previous_response_id is '.*', not '")

# The message about a text that only the one of two answers has.
TEXT_STREAMED = re.compile(r"\.(?:content|text) is only present when (?:not )?streamed$")

# All kinds of causes.
ANY = frozenset(Kind)

# Causes that findings may follow from: the kinds of their own causes with which they do, and a condition.
POSSIBLE: tuple[tuple[Cause, AbstractSet[Kind], Callable[[Line, FindingRecord], bool]], ...] = (
    (Cause(Kind.EARLIER), {Kind.UNREAD, Kind.DISREGARDED}, lambda line, finding: is_earlier(finding)),
    (Cause(Kind.LIMIT), ANY, lambda line, finding: bool(THOUGH_LIMITED.search(finding.message))),
    (
        Cause(Kind.DISREGARDED, "function tools"),
        ANY,
        lambda line, finding: bool(WITHOUT_CALL.search(finding.message)),
    ),
    (Cause(Kind.SAME_INDEX), {Kind.ARGUMENTS, Kind.OTHER}, lambda line, finding: bool(JOINED.search(finding.message))),
    (Cause(Kind.SAME_ID, "item"), {Kind.ITEMS}, lambda line, finding: True),
    (Cause(Kind.ID), {Kind.NOT_REPEATED, Kind.OTHER}, lambda line, finding: bool(OF_ID.search(finding.message))),
    (Cause(Kind.INCOMPLETE), ANY, lambda line, finding: "\N{REPLACEMENT CHARACTER}" in finding.message),
    # Tokens that differ each time change what is compared, not whether a request is answered or refused.
    (
        Cause(Kind.UNSTEADY),
        {Kind.OTHER, Kind.UNREAD, Kind.COUNT, Kind.NULL, Kind.ECHO},
        lambda line, finding: endpoint_of(line).endswith("tokenize"),
    ),
    # An answer that is mixed up is a proper answer to another request.
    (
        Cause(Kind.MIXED),
        ANY - {Kind.FAILS_TO_ANSWER, Kind.FAILS_TO_REFUSE, Kind.FAILS, Kind.STATUS, Kind.REFUSED},
        lambda line, finding: _is_together(finding),
    ),
    (Cause(Kind.IN_STREAMS), ANY, lambda line, finding: is_refused_in_stream(finding)),
    (Cause(Kind.MARKED), ANY, lambda line, finding: any(map(_is_marked, finding.exchanges))),
    (Cause(Kind.UNFINISHED), {Kind.OTHER}, lambda line, finding: bool(NOT_ENDED.search(finding.message))),
)


def possible_causes(line: Line, finding: FindingRecord) -> Iterator[Cause]:
    """Yields what a finding follows from if other findings report that: what POSSIBLE has, and causes that depend on
    its message, such as a missing object, or on its answers, such as an undocumented status."""
    own = {cause.kind for cause in causes(line, finding)}
    for cause, kinds, holds in POSSIBLE:
        if own <= kinds and holds(line, finding):
            yield cause
    if read_back := READ_BACK.search(finding.message):
        yield Cause(Kind.STREAM, read_back["name"])
    if TEXT_STREAMED.search(finding.message):
        yield Cause(Kind.EMPTY, endpoint_of(line))
    if absent := ABSENT.search(finding.message):
        for name in absent["path"].split(".")[:-1]:
            yield lacks(name, is_error=absent["path"].startswith("error."))
        if is_sent(finding, absent["path"]):
            yield repeated(absent["path"])
    if own == {Kind.UNREAD} and (counted := re.search(COUNTED, finding.message)):
        yield Cause(Kind.COUNT, counted["about"])
    for exchange in finding.exchanges:
        status = status_of(exchange)
        if own == {Kind.STATUS} or (200 <= status < 300 and own <= {Kind.OTHER, Kind.STATUS, Kind.DISREGARDED}):
            yield Cause(Kind.UNDOCUMENTED, route_of(exchange))
        reason = reason_of(exchange.response.body) if exchange.response else ""
        if reason and own <= {Kind.OTHER, Kind.STATUS, Kind.UNDOCUMENTED} and 400 <= status < 500:
            yield Cause(Kind.REFUSED, refusal_of(line, (exchange,), reason))


def fields(finding: FindingRecord, all_causes: Sequence[Cause]) -> set[str]:
    """Returns the fields that explain a finding if they are missing or invalid: of a difference in streams the field,
    all words of a message of no known form, and of a count that answers of two operations show, and of an output as a
    whole what the message shows of it. Invalid arguments in streams are explained by those that differ there."""
    kinds = {cause.kind for cause in all_causes}
    if WHOLE_OUTPUT.search(finding.message):
        return set(re.findall(r"""["'](\w+)["']: """, finding.message.replace('":', '": ')))
    if absent := ABSENT.search(finding.message):
        return set(absent["path"].split(".")[:-1])
    if kinds == {Kind.ARGUMENTS} and all(map(_is_stream, finding.exchanges)):
        return ARGUMENTS
    if kinds == {Kind.STREAM}:
        differing = re.findall(r"(\w+) differs$", finding.message)
        return {*differing, *(name.strip("`") for cause in all_causes for name in cause.names)}
    compares = kinds == {Kind.COUNT} and len(operations(finding)) > 1
    return set(re.findall(r"\w+", without_values(finding.message))) if kinds == {Kind.OTHER} or compares else set()


def operations(finding: FindingRecord) -> set[str]:
    """Returns the methods and paths of a finding's requests."""
    return {route_of(exchange).partition(" of ")[2] for exchange in finding.exchanges}


def _is_marked(exchange: ExchangeRecord) -> bool:
    """Returns whether a byte order mark is in an answer; the bodies of reports have it as an escape."""
    return exchange.response is not None and r"\ufeff" in exchange.response.body


def _is_together(finding: FindingRecord) -> bool:
    """Returns whether all requests of a finding were sent at the same time."""
    return bool(finding.exchanges) and all(exchange.together for exchange in finding.exchanges)


def _is_stream(exchange: ExchangeRecord) -> bool:
    headers = exchange.response.headers if exchange.response else {}
    is_stream = headers.get("content-type", "").startswith(tuple(FRAMINGS.values()))
    return exchange.request.method == "WS" or is_stream
