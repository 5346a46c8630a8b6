"""Our implementation of the `fuzz` checks that need only one answer, without Schemathesis.

While requests are generated, Schemathesis runs its own checks, and of these only the public methods of AnswerChecks. A
replay runs all of them, under the same names.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, error_of
from specvino.conformance.streams.stream_validator import SseValidator
from specvino.conformance.streams.strict_json import strict_json
from specvino.document.operations import Operation
from specvino.document.pointers import resolved
from specvino.generated.errors import ERRORS, ErrorCode

if TYPE_CHECKING:
    from specvino.conformance.fuzz.second_validator import SecondValidator

# Statuses for a server's own limits on sizes and load.
OWN_LIMITS = (413, 414, 429, 431)

# Methods that needn't be documented.
IMPLICIT_METHODS = ("HEAD", "OPTIONS")

Check = Callable[[Exchange], Iterable[str]]


class AnswerChecks:
    """The checks for a dialect's document."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._checks: dict[str, Check] = {
            "not_a_server_error": self._not_a_server_error,
            "status_code_conformance": self._status_code_conformance,
            "content_type_conformance": self._content_type_conformance,
            "response_headers_conformance": self._response_headers_conformance,
            "response_schema_conformance": self._response_schema_conformance,
            "negative_data_rejection": self._negative_data_rejection,
            "positive_data_acceptance": self._positive_data_acceptance,
            "unsupported_method": self._unsupported_method,
            "allow_header_conformance": self._allow_header_conformance,
            "stream_conformance": self.stream_conformance,
            "second_judge": lambda exchange: self.second_judge(exchange) or (),
        }
        if dialect.lists_error_codes:
            self._checks["error_code_conformance"] = self.error_code_conformance

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._checks)

    def violations(self, name: str, exchange: Exchange) -> list[str]:
        """Returns the violations of a check by an answer. Raises KeyError for an unknown check, ModuleNotFoundError if
        `second_judge` lacks its library."""
        return list(self._checks[name](exchange))

    def error_code_conformance(self, exchange: Exchange) -> Iterator[str]:
        """An error's code is one of the API's, with the code's status and type."""
        if (exchange.status or 0) < 400:
            return
        try:
            body = json.loads(exchange.content)
            error = error_of(body)
            code = ErrorCode(error["code"])
        except (ValueError, TypeError, KeyError) as problem:
            yield f"the error has no code of this API: {problem}"
            return
        kind = ERRORS[code]
        if exchange.status != kind.status:
            yield f"the status of {code} is {kind.status}, not {exchange.status}"
        expected = kind.anthropic_type if "type" in body else kind.type.value
        has_type = not isinstance(body["error"], str)  # errors of Ollama's own API have none
        if has_type and error.get("type") != expected:
            yield f"the type of {code} is {expected}, not {error.get('type')}"

    def stream_conformance(self, exchange: Exchange) -> Iterator[str]:
        """A stream follows the operation's x-stream; a resumed one has consecutive sequence numbers."""
        table = self._dialect.stream(exchange.request.endpoint or "") if exchange.is_stream else None
        if table is None:
            return
        decoder = exchange.decoder()
        if (resumed_after := _resumed_after(exchange)) is not None:
            # The table doesn't apply: a resumed stream lacks the first event, and may be empty.
            for expected, event in enumerate(decoder.feed(exchange.content), resumed_after + 1):
                if _sequence_number(event.data) != expected:
                    yield f"the sequence_number isn't {expected}: {event.data[:200]}"
        elif exchange.ended != "complete":
            yield "the stream didn't end in time"
            return
        else:
            described = partial(self._dialect.described_event, exchange.request.endpoint or "")
            validator = SseValidator(table, described)
            for event in decoder.feed(exchange.content):
                yield from validator.feed(event)
            yield from validator.end()
        if decoder.incomplete:
            yield "the stream ends inside an event"

    def second_judge(self, exchange: Exchange) -> list[str] | None:
        """A JSON answer is valid by openapi-core, which shares no code with Schemathesis. Returns None if it isn't
        validated."""
        return self._second_validator.violations(self._operation(exchange).path, exchange)

    @cached_property
    def _second_validator(self) -> "SecondValidator":
        from specvino.conformance.fuzz.second_validator import SecondValidator

        return SecondValidator(self._dialect)

    def _operation(self, exchange: Exchange) -> Operation:
        return self._dialect.operations[exchange.request.endpoint or ""]

    def _definition(self, exchange: Exchange) -> Mapping[str, Any] | None:
        """Returns the documented response for the answer's status; None without one."""
        response = self._operation(exchange).definition["responses"].get(str(exchange.status))
        return None if response is None else resolved(self._dialect.document, response)

    def _not_a_server_error(self, exchange: Exchange) -> Iterator[str]:
        if (exchange.status or 0) >= 500 and not self._is_known_refusal(exchange):
            yield f"Server error: the status is {exchange.status}"

    def _status_code_conformance(self, exchange: Exchange) -> Iterator[str]:
        statuses = self._dialect.documented_statuses(exchange.request.endpoint or "")
        if exchange.status not in statuses and (self._dialect.is_exact or exchange.status not in OWN_LIMITS):
            documented = ", ".join(map(str, sorted(statuses)))
            yield f"Undocumented HTTP status code: {exchange.status}; documented are {documented}"

    def _content_type_conformance(self, exchange: Exchange) -> Iterator[str]:
        media = (self._definition(exchange) or {}).get("content", {})
        if not media:
            return
        if not exchange.media:
            yield "Missing Content-Type header"
        elif exchange.media not in media:
            yield f"Undocumented Content-Type: {exchange.media}; documented are {', '.join(media)}"

    def _response_headers_conformance(self, exchange: Exchange) -> Iterator[str]:
        for name, header in (self._definition(exchange) or {}).get("headers", {}).items():
            header = resolved(self._dialect.document, header)
            value = exchange.headers.get(name.lower())
            if value is None and header.get("required"):
                yield f"Missing required header: {name}"
            elif value is not None:
                shape = self._dialect.validator(header.get("schema", {}))
                if not any(shape.fits(reading) for reading in _possible_values(value)):
                    yield f"Response header does not conform to the schema: {name} is {value!r}"

    def _response_schema_conformance(self, exchange: Exchange) -> Iterator[str]:
        endpoint = exchange.request.endpoint or ""
        if exchange.is_stream:
            for event in exchange.objects:
                shape = self._dialect.event(endpoint, event)
                if shape is not None and self._dialect.governs(endpoint, event):
                    yield from (f"Response violates schema: {violation}" for violation in shape.violations(event))
            return
        shape = self._dialect.answer(endpoint, exchange.status or 0, exchange.media)
        if shape is None or "json" not in exchange.media:
            return
        try:
            value = strict_json(exchange.content.decode())
        except (ValueError, RecursionError) as error:
            yield f"JSON deserialization error: {error}"
        else:
            yield from (f"Response violates schema: {violation}" for violation in shape.violations(value))

    def _negative_data_rejection(self, exchange: Exchange) -> Iterator[str]:
        if not 400 <= (exchange.status or 0) < 500 and not self._is_known_refusal(exchange):
            yield f"Invalid data should have been rejected: the status is {exchange.status}"

    def _positive_data_acceptance(self, exchange: Exchange) -> Iterator[str]:
        if not 200 <= (exchange.status or 0) < 300:
            yield f"Valid data should have been accepted: the status is {exchange.status}"

    def _unsupported_method(self, exchange: Exchange) -> Iterator[str]:
        status, statuses = exchange.status or 0, self._dialect.statuses("method", exchange.request.endpoint or "")
        # Another vendor's server may have undocumented methods.
        if statuses and status not in statuses and (self._dialect.is_exact or 400 <= status < 500):
            yield f"Unsupported method {exchange.request.method} returned {status}, not {statuses[0]}"
        elif self._dialect.is_exact and status == 405 and not exchange.headers.get("allow"):
            yield f"{exchange.request.method} returned 405 without the header Allow"

    def _allow_header_conformance(self, exchange: Exchange) -> Iterator[str]:
        header = exchange.headers.get("allow", "")
        advertised = {method.strip().upper() for method in header.split(",") if method.strip()}
        if exchange.request.method != "OPTIONS" or not advertised:
            return
        declared = {
            operation.method
            for operation in self._dialect.operations.values()
            if operation.path == self._path(exchange)
        }
        if missing := sorted(declared - advertised):
            yield f"The Allow header {header} lacks the documented methods {', '.join(missing)}"
        if self._dialect.is_exact and (undocumented := sorted(advertised - declared - {*IMPLICIT_METHODS})):
            yield f"The Allow header {header} has the undocumented methods {', '.join(undocumented)}"

    def _path(self, exchange: Exchange) -> str:
        return self._operation(exchange).path

    def _is_known_refusal(self, exchange: Exchange) -> bool:
        """Returns whether a body that isn't JSON got the system's status for that: some systems use 500."""
        if self._operation(exchange).body is None or _is_json(exchange.request.content or b""):
            return False
        return exchange.status in (self._dialect.statuses("json", exchange.request.endpoint or "") or ())


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def json_of(content: bytes | None) -> Any:
    """Returns the JSON value of a body; None without one."""
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError):
        return None


def _resumed_after(exchange: Exchange) -> int | None:
    """Returns the sequence number after which the request resumes a stream; None if it doesn't resume one."""
    after = dict(parse_qsl(urlsplit(exchange.request.path).query)).get("starting_after", "")
    return int(after) if after.isdecimal() else None


def _sequence_number(data: str) -> Any:
    try:
        return json.loads(data)["sequence_number"]
    except (ValueError, TypeError, KeyError):
        return None


def _possible_values(value: str) -> list[Any]:
    """Returns the possible values of a header: its text, and its JSON value."""
    try:
        return [value, json.loads(value)]
    except ValueError:
        return [value]
