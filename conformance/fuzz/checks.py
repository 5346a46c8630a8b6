"""Checks that Schemathesis doesn't have. Schemathesis validates each event by its schema; the order of events is
checked here."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from schemathesis import Case, CheckContext, Response

from specvino.conformance.dialect import WHOLE, Dialect
from specvino.conformance.fuzz.second_validator import SecondValidator
from specvino.conformance.streams.sse import Decoder
from specvino.conformance.streams.stream_judge import SseJudge
from specvino.generated.errors import ERRORS, ErrorCode
from specvino.generated.streams import Stream

# True says that there was nothing to check.
Check = Callable[[CheckContext, Response, Case[Any]], bool | None]


def checks_for(dialect: Dialect) -> tuple[Check, ...]:
    """Returns the checks by the document of the dialect. Only our own document has codes for all errors."""

    def stream_conformance(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
        """A stream of events runs as the operation's x-stream says; a resumed one has the next numbers."""
        return _stream_violated(dialect.stream(endpoint_of(case)) if _is_stream(response) else None, response, case)

    second = SecondValidator(dialect)

    def second_judge(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
        """A JSON answer fits its schema by openapi-core, too, which shares no code with Schemathesis."""
        violations = second.violations(case.path, case.method, response)
        assert not violations, "\n".join(violations or ())
        return violations is None or None

    own = (error_code_conformance,) if dialect.name == WHOLE else ()
    return (*own, stream_conformance, second_judge)


def error_code_conformance(ctx: CheckContext, response: Response, case: Case[Any]) -> bool | None:
    """An error's code is one of the API's, and its status and type are the code's."""
    if response.status_code < 400:
        return True
    try:
        error = json.loads(response.content)["error"]
        code = ErrorCode(error["code"])
    except (ValueError, TypeError, KeyError) as problem:
        raise AssertionError(f"the answer holds no error code of this API: {problem}") from None
    kind = ERRORS[code]
    assert response.status_code == kind.status, f"{code} goes with {kind.status}, not with {response.status_code}"
    assert error["type"] == kind.type, f"{code} goes with {kind.type}, not with {error['type']}"
    return None


def endpoint_of(case: Case[Any]) -> str:
    return str(case.operation.definition.raw["x-endpoint"])


def _stream_violated(table: Stream | None, response: Response, case: Case[Any]) -> bool | None:
    if table is None:
        return True
    start = str((case.query or {}).get("starting_after", ""))
    if start.isdecimal():
        violations = list(_violations_from(response, int(start) + 1))
    else:
        violations = list(_violations(response, table))
    assert not violations, "\n".join(violations)
    return None


def _violations(response: Response, table: Stream) -> Iterator[str]:
    if response.stream_cut_short:
        yield "the stream did not end in time"
        return
    judge = SseJudge(table)
    decoder = Decoder()
    for event in decoder.feed(response.content):
        yield from judge.feed(event)
    yield from judge.end()
    if decoder.incomplete:
        yield "the stream ends inside an event"


def _violations_from(response: Response, number: int) -> Iterator[str]:
    """Yields what is wrong with a resumed stream, whose first event has this number. The table of a stream speaks of
    its first event, which a resumed one doesn't have. It may be over."""
    decoder = Decoder()
    for expected, event in enumerate(decoder.feed(response.content), number):
        try:
            found = json.loads(event.data)["sequence_number"]
        except (ValueError, TypeError, KeyError):
            found = None
        if found != expected:
            yield f"not the event {expected}: {event.data[:200]}"
    if decoder.incomplete:
        yield "the stream ends inside an event"


def _is_stream(response: Response) -> bool:
    return response.headers.get("content-type", [""])[0].startswith("text/event-stream")
