"""Maps the message of a finding to its causes.

Messages are our own sentences. MEANINGS has what their forms mean, most specific first; a message of no known form is
a cause of its own, without its values.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from specvino.conformance.message_shape import template_of
from specvino.conformance.reports.causes import Cause, Kind, without_ids, without_values
from specvino.conformance.reports.records import ExchangeRecord, FindingRecord, Line, ResponseRecord
from specvino.conformance.reports.unread import EARLIER, body_of, unread
from specvino.document.operations import LINES

COUNTED = r"^(?:usage\.)?(?P<about>\w+_tokens(?:_details\.\w+)?)(?: of [a-z ]+)? (?:is \d|must be )"

# Forms of messages by the kind of their cause. `about` is what the cause is about, or the last name of `path`; `names`
# are for the title.
MEANINGS: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.DOTALL))
    for kind, pattern in (
        (Kind.UNDOCUMENTED, r"^(?P<about>\d{3}) isn't documented"),
        (Kind.ACCEPTED, r"values beyond a bound aren't refused: of (?P<names>.+)"),
        (Kind.PARAM, r"\berror\.param is "),
        (Kind.UNFINISHED, r"^choice \d+ (?:has no finish_reason|was never closed by finish)"),
        (
            Kind.UNFINISHED,
            r"^choices\.\d+\.finish_reason is only present when |\bfinish_reason (?:is|from .*? to|from) (?:None\b|'')",
        ),
        (Kind.STREAM, r"^(?P<path>[\w.]+) is only present when (?:not )?streamed"),
        (Kind.STREAM, r"^(?P<path>[\w.]+) is .* in the unary answer, but .* in the folded stream"),
        (Kind.STREAM, r"^(?P<path>[\w.]+) is .* unary, but the stream makes it"),
        (Kind.STREAM, r"^response\.(?P<path>output)\.\d+ of \S+ is not the item of "),
        (Kind.STREAM, r"^(?:the )?(?P<path>output) (?:differs: |is )\W*\["),
        (Kind.STREAM, r"^(?P<path>[\w.]+) of \S+ of \S+ is .*, but the deltas join to "),
        (Kind.HEADER, r"the answer has no header (?P<about>\S+)"),
        (Kind.LACKS, r"was requested, but none of the \d+ chunks has (?P<about>\w+)"),
        (Kind.LACKS, r"^the (?:finished response|response of the last event) has no (?P<about>\w+)"),
        (Kind.LACKS, r"^(?:GET|a chunk) .*has no (?P<about>\w+)$"),
        (Kind.ERRORS_LACK, r"refuses (?:the request|it) without an (?P<about>error) object"),
        (
            Kind.EMPTY,
            r"^the answer is empty$|^all \d+ choices are ''$|\bon the answer \[''|, but \S+\.(?:content|text) is \"\"$",
        ),
        (Kind.SCHEMA, r"\bviolates the schema\b"),
        (Kind.ARGUMENTS, r"^the arguments of '.*' (?:aren't|violate) "),
        (Kind.UNREPORTED, r"has no effect, but X-Unsupported-Params is|^the first event names .* as without effect"),
        (Kind.DISREGARDED, r"^(?P<about>\w+) has no effect\b"),
        (Kind.DISREGARDED, r"^(?P<about>\w+): .* was (?:answered with \d+|sent), but "),
        (Kind.ZERO, r"^finish_reason is .* after 0 (?:of \d+ )?tokens|^there are \d+ choices with 0 tokens"),
        (Kind.LIMIT, r"^finish_reason is '?length'? after \d+ |^with \{'max_.*finish_reason is 'length'$"),
        (Kind.CUT_OFF, r"^with \{'max_.*finish_reason is |^a limit of \d+ tokens gives .*finish_reason is "),
        (Kind.CUT_OFF, r"^finish_reason is '\w+' after (?P<all>\d+) of (?P=all) tokens|, which is the limit$"),
        (Kind.CUT_OFF, r"^done_reason is 'stop', not 'length'$"),
        (Kind.CUT_OFF, r"^the status of an answer that reaches the limit of \d+ tokens is "),
        (Kind.INCOMPLETE, r"^chunk \d+ has an incomplete character"),
        (Kind.AFTER_END, r"^\S+ comes after the \w+ was ended by "),
        (Kind.INDEX, r"\bindexes (?:are|for \d+ prompts)|^the values of index of choice are "),
        (Kind.MARKED, r"\bisn't JSON\b.*?(?:\\ufeff|\ufeff)"),
        (Kind.SAME_INDEX, r"^the (?:output_)?index \S+ is that of several |^block \d+ is opened by \S+ a second time$"),
        (Kind.UNSTEADY, r"^the tokens are .*, but with \{\} they are "),
        (Kind.UNKNOWN, r"^a response that isn't stored (?:returns 2|is continued)"),
        (
            Kind.ITEMS,
            r"^data\.\d+\.|is at the wrong position|^\d+ items were sent, but|^the input isn't the item after ",
        ),
        (Kind.NULL, r" with null, and |, but with \{.*: None.*\} they are "),
        (Kind.BROKEN, r"^the connection broke|^the answer wasn't complete after "),
        (Kind.ACCEPTED, r"^the message is answered like a request"),
        (Kind.ECHO, r"^the prompt is .*, but the text is |^the echo of the tokens of "),
        (Kind.TOKENS, r"^the (?:tokens|bytes) join to .*, but the text is |^the bytes of .* are those of "),
        (Kind.DISREGARDED, r", though (?P<about>[a-z]+_[a-z_]+) (?:is|wasn't|requires) "),
        (Kind.DISREGARDED, r"the (?P<about>stop) string '"),
        (Kind.ID, r"^the id differs|^id is '.*', not '"),
        (Kind.SAME_ID, r"^the id '.*' is that of an earlier (?P<about>answer|call)$"),
        (Kind.SAME_ID, r"^two (?P<about>call|item)s have the id '"),
        (Kind.SAME_ID, r"^(?:two items have the|the) (?P<about>call)_id '"),
        (Kind.SAME_ID, r"^(?P<about>item) \d+ has the id of item "),
        (Kind.MIXED, r"^concurrent(?:ly)? |with concurrent requests"),
        (Kind.UNREAD, r"^(?:\w+_tokens|prompt_eval_count) is \d+ .*, expected (?:at least )?(?:\d+ )?more$"),
        (Kind.ZERO, r"^(?:usage\.)?(?P<names>\w+_tokens) is 0\b"),
        (Kind.COUNT, COUNTED),
    )
)

# The first event or line of a stream that is an error, and what shows a call in an answer.
ERROR_IN_STREAM = re.compile(r'\A(?:event: \w+\n)?data: (?:\{"type": ?"error", ?)?\{?"?error"?: ?\{')
ERROR_IN_LINES = re.compile(r'\A\{"error": ?"')
CALL = re.compile(r'"tool_calls": ?\[\{|"type": ?"(?:tool_use|function_call)"')

# The message about an answer without a call that is required.
WITHOUT_CALL = re.compile(
    r" was answered with \d+, but (?:the answer has no \S*tool_calls$|(?:output|stop_reason) is )"
)

# The type of an error that says that the request is at fault.
REQUEST_AT_FAULT = re.compile(r'"type": ?"(?:invalid_request|authentication|permission|not_found)_error"')

# The message about a call of another function than tool_choice names.
OTHER_CALL = re.compile(r"^'.*' is called, not ", re.DOTALL)

# Kinds of an accepted request, by the status with which it had to be refused; other statuses refuse invalid values.
REFUSALS = {
    "401": Kind.KEYS,
    "403": Kind.KEYS,
    "404": Kind.UNKNOWN,
    "405": Kind.METHODS,
    "413": Kind.SIZES,
    "415": Kind.MEDIA,
}

STATUS = re.compile(
    r"the (?:status|answer) is (?P<actual>\d{3}), not (?P<expected>\d(?:\d\d|xx)(?: or \w+)*)(?:: (?P<reason>.*))?",
    re.DOTALL,
)

FAILURE = re.compile(r"the (?:status|answer) is (?P<actual>5\d\d): (?P<reason>.*)", re.DOTALL)

# Rules that validate answers, events and errors by their schemas.
SHAPES = ("answer-shape", "event-shape", "error-envelope", "unrouted-envelope")

LOCATED = re.compile(r"(?:event \d+: )?(?P<path>\S+?)(?: is wrong)?: (?P<problem>.*)", re.DOTALL)

MISSING = re.compile(r'(?P<names>".*") (?:is a required property|are required properties)')

ABSENT = re.compile(r"the answer has no (?!header )(?P<path>\w[\w.*]*\w)")

REPEATED = re.compile(r"(?s)^(?P<path>\w[\w.]*) is (?:wrong: |.*, not )")

MESSAGE = re.compile(r'"(?:message|detail)":\s*"((?:[^"\\]|\\.)*)')
PARAM = re.compile(r'"param":\s*"([^"\\]+)"')

# Fields with a text, or that depend on it: they differ together.
TEXTS = {"bytes", "content", "text", "text_offset"}

# Fields with the arguments of a tool call.
ARGUMENTS = {"arguments", "input"}

# The maximum length of an error's reason, in characters.
LONGEST_REASON = 100


def causes(line: Line, finding: FindingRecord) -> tuple[Cause, ...]:
    """Returns what is wrong by a finding, or by the error of a check. A difference of two servers is its own cause:
    neither of them needs to be wrong."""
    if line.layer == "parity":
        return (Cause(Kind.OTHER, " ".join(sorted(finding.message for finding in line.findings))),)
    causes = tuple(_failures(finding)) or tuple(_meant(line, finding))
    return causes or (_other(line, finding.message),)


def _failures(finding: FindingRecord) -> Iterator[Cause]:
    """Yields the failures of the server: what else is wrong with such an answer follows from them."""
    match = STATUS.search(finding.message) or FAILURE.search(finding.message)
    expected = match.groupdict().get("expected", "") if match else ""
    reason = reason_of(match["reason"] or "" if match else "")
    failures = {
        str(status_of(exchange)): reason_of(exchange.response.body) or reason
        for exchange in finding.exchanges
        if exchange.response and status_of(exchange) >= 500
    }
    if match and match["actual"].startswith("5"):
        failures.setdefault(match["actual"], reason)
    for status, reason in failures.items():
        yield _failure(status, reason)
        if any(
            exchange.response and status_of(exchange) >= 500 and REQUEST_AT_FAULT.search(exchange.response.body)
            for exchange in finding.exchanges
        ):
            yield Cause(Kind.FAILS_TO_REFUSE, status, (status,))
        if expected.startswith("4") or (not expected and "refused" in finding.message):
            yield Cause(Kind.FAILS_TO_REFUSE, status, (status,))
        elif expected.startswith("2") and "4" not in expected:
            yield replace(_failure(status, reason), kind=Kind.FAILS_TO_ANSWER)


def _failure(status: str, reason: str) -> Cause:
    return Cause(Kind.FAILS, f"{status}: {without_ids(reason)}", (status,), reason)


def _meant(line: Line, finding: FindingRecord) -> Iterator[Cause]:
    message, rule = finding.message, _rule(line)
    if not rule and is_refused_in_stream(finding):
        yield Cause(Kind.IN_STREAMS)
        return
    if not rule and any(map(_calls_though_none, finding.exchanges)):
        yield Cause(Kind.DISREGARDED, "tool_choice", _quoted("tool_choice"))
        return
    if WITHOUT_CALL.search(message) and (kinds := _kinds_of_tools(finding)):
        yield from (Cause(Kind.DISREGARDED, kind, _quoted("tools")) for kind in kinds)
        return
    if status := STATUS.search(message):
        yield _status_cause(line, finding, status)
        return
    located = LOCATED.fullmatch(message)
    if located and (rule in SHAPES or " is wrong: " in message):
        field = "" if rule else _field(line)
        yield from _invalid(located["path"], located["problem"], field, is_error=rule.endswith("envelope"))
        return
    yield from _known(line, finding)
    if absent := ABSENT.search(message):
        if not absent["path"].rpartition(".")[2].isdigit():
            yield lacks(_leaf(absent["path"]), is_error=absent["path"].startswith("error."))
    elif (match := REPEATED.match(message)) and is_sent(finding, match["path"]):
        yield repeated(match["path"])


def _known(line: Line, finding: FindingRecord) -> Iterator[Cause]:
    if OTHER_CALL.search(finding.message):
        yield Cause(Kind.DISREGARDED, "tool_choice", _quoted("tool_choice"))
        return
    for kind, pattern in MEANINGS:
        match = pattern.search(finding.message)
        if match is None:
            continue
        groups = match.groupdict()
        about = groups.get("about") or _leaf(groups.get("path") or "")
        match kind:
            case Kind.UNDOCUMENTED:
                yield Cause(kind, about, (about,))
                yield from (Cause(kind, route_of(exchange)) for exchange in finding.exchanges)
            case Kind.EMPTY:
                yield Cause(kind, endpoint_of(line))
            case Kind.SAME_ID:
                yield Cause(kind, about, (about,))
            case Kind.ACCEPTED | Kind.ZERO:
                yield Cause(kind, "", _quoted(*(groups.get("names") or "").split(", ")))
            case Kind.UNREAD:
                yield from unread(finding)
            case Kind.STREAM if about in TEXTS:
                yield Cause(kind, "text", _quoted(about))
            case _:
                is_field = kind is Kind.LACKS or (kind is Kind.STREAM and about in ARGUMENTS)
                yield Cause(kind, about, _quoted(about), field=about if is_field else "")
        return


def _quoted(*names: str) -> tuple[str, ...]:
    return tuple(f"`{name}`" for name in names if name)


def endpoint_of(line: Line) -> str:
    """Returns the endpoint of a rule, such as chat."""
    return line.rule.partition("/")[0]


def _rule(line: Line) -> str:
    """Returns the name of a rule for all answers; empty for a case."""
    return line.rule.rpartition("/rules/")[2] if "/rules/" in line.rule else ""


def _status_cause(line: Line, finding: FindingRecord, status: re.Match[str]) -> Cause:
    actual, expected = status["actual"], status["expected"]
    names = _quoted(_field(line))
    if actual[0] == "2" and expected[0] == "4":
        endpoint, _, rest = line.rule.partition("/")
        kind = REFUSALS.get(expected, Kind.MALFORMED if endpoint == "transport" else Kind.ACCEPTED)
        if kind is Kind.ACCEPTED and _field(line) in EARLIER:
            kind = Kind.UNKNOWN
        # What HTTP is about has a fault for each subject.
        subject = rest.partition("/")[0] if kind is Kind.MALFORMED else ""
        return Cause(kind, subject, names if endpoint != "transport" else ())
    if actual[0] == "4" and expected[0] == "2":
        reason = reason_of(status["reason"] or "")
        names = _quoted(*_refused(finding)) or names
        return Cause(Kind.REFUSED, refusal_of(line, finding.exchanges, reason), names, reason)
    return Cause(Kind.STATUS, f"{actual}, not {expected}", (f"{actual} instead of {expected}",))


def is_refused_in_stream(finding: FindingRecord) -> bool:
    """Returns whether a stream of a finding begins with an error that says that the request is at fault, or with any
    error if the request had to be refused."""
    status = STATUS.search(finding.message)
    is_invalid = status is not None and status["expected"].startswith("4")
    answers = [exchange.response for exchange in finding.exchanges if exchange.response and status_of(exchange) == 200]
    refusals = (answer.body for answer in answers if _begins_with_error(answer))
    return any(is_invalid or REQUEST_AT_FAULT.search(body) for body in refusals)


def _begins_with_error(answer: ResponseRecord) -> bool:
    in_lines = answer.headers.get("content-type", "").startswith(LINES)
    return (ERROR_IN_LINES if in_lines else ERROR_IN_STREAM).search(answer.body) is not None


def _kinds_of_tools(finding: FindingRecord) -> set[str]:
    lists = [body_of(exchange).get("tools") for exchange in finding.exchanges]
    tools = [tool for tools in lists if isinstance(tools, list) for tool in tools if isinstance(tool, dict)]
    return {f"{tool.get('type', 'function')} tools" for tool in tools}


def _calls_though_none(exchange: ExchangeRecord) -> bool:
    response = exchange.response
    none = body_of(exchange).get("tool_choice") in ("none", {"type": "none"})
    return none and response is not None and CALL.search(response.body) is not None


def _invalid(path: str, problem: str, field: str, *, is_error: bool) -> Iterator[Cause]:
    if missing := MISSING.fullmatch(problem):
        for name in re.findall(r'"([^"]+)"', missing["names"]):
            yield lacks(name, is_error=is_error)
        return
    leaf = _leaf(path)
    if leaf == "finish_reason" and problem.startswith(("null is ", '"" is ')):
        yield Cause(Kind.UNFINISHED)
        return
    if path.startswith("usage.") and leaf.endswith("_tokens") and problem.startswith("0 is "):
        yield Cause(Kind.ZERO, "", _quoted(leaf))
        return
    if path.startswith("usage.") and leaf.endswith("_tokens"):
        yield Cause(Kind.COUNT, leaf, _quoted(leaf), field=leaf)
        return
    if leaf == "index":
        yield Cause(Kind.INDEX, field=leaf)
        return
    if leaf in TEXTS and field:
        yield Cause(Kind.DISREGARDED, field, _quoted(field))
        return
    names = _quoted("" if leaf == "it" else leaf)
    yield Cause(Kind.VALUE, f"{leaf}: {_type(problem)}", names, problem[:LONGEST_REASON], leaf)


def _type(problem: str) -> str:
    """Returns what a problem with a value begins with: a character for the type of the value, or a word."""
    return "0" if problem[:1] in "-0123456789" else problem[:1] if problem[:1] in '"[{' else problem.partition(" ")[0]


def lacks(name: str, *, is_error: bool) -> Cause:
    """Returns the cause that answers or errors lack a field."""
    if name == "finish_reason":
        return Cause(Kind.UNFINISHED)
    return Cause(Kind.ERRORS_LACK if is_error else Kind.LACKS, name, _quoted(name), field=name)


def repeated(path: str) -> Cause:
    """Returns the cause that an answer doesn't repeat what the request has at a path."""
    return Cause(Kind.NOT_REPEATED, "", _quoted(path))


def _other(line: Line, message: str) -> Cause:
    rule = _rule(line)
    text = without_values(message)
    if rule:  # it may name its endpoint
        text = re.sub(rf"\b{endpoint_of(line).removesuffix('s')}s?\b", "…", text)
    return Cause(Kind.OTHER, f"{rule}: {text}")


def route_of(exchange: ExchangeRecord) -> str:
    """Returns an answer's status with its operation, as in "200 of GET /models"."""
    path = urlsplit(exchange.request.url).path
    return f"{status_of(exchange)} of {exchange.request.method} {template_of(path) or path}"


def status_of(exchange: ExchangeRecord) -> int:
    """Returns the status of an answer; 0 without an answer."""
    return exchange.response.status if exchange.response else 0


def reason_of(text: str) -> str:
    """Returns the message of an error, which may be a part of its body, or a text as it is."""
    match = MESSAGE.search(text)
    return " ".join((match[1] if match else text).split())[:LONGEST_REASON]


def _refused(finding: FindingRecord) -> set[str]:
    """Returns the fields of a finding's requests at which the errors of their answers point."""
    return {
        match[1]
        for exchange in finding.exchanges
        if exchange.response
        for match in PARAM.finditer(exchange.response.body)
        if match[1] in body_of(exchange)
    }


def refusal_of(line: Line, exchanges: Sequence[ExchangeRecord], reason: str) -> str:
    """Returns the reason of a refusal without its values and without the name of the field that is refused."""
    bodies = (exchange.response.body for exchange in exchanges if exchange.response)
    fields = [_field(line), *(match[1] for body in bodies for match in PARAM.finditer(body))]
    reason = re.sub(r"/\S+", "…", reason)  # it may quote the path
    for field in filter(None, fields):
        reason = re.sub(rf"(?<![\w-]){re.escape(field)}(?![\w-])", "…", reason)
    return without_ids(reason)


def _field(line: Line) -> str:
    """Returns the field that a rule is about; empty if it isn't about one."""
    schema, _, field = line.spec.rpartition("/properties/")
    return "" if schema.rpartition("/")[2].startswith("Error") else field.partition("/")[0] if schema else ""


def _leaf(path: str) -> str:
    """Returns the last name of a path, without indexes: `tokens` of `usage.tokens.0`."""
    return next((name for name in reversed(path.split(".")) if name[:1].isalpha()), "")


def is_sent(finding: FindingRecord, path: str) -> bool:
    """Returns whether the request has a value at a path of the answer."""
    value: Any = body_of(finding.exchanges[0]) if finding.exchanges else None
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False
    return value is not None
