"""Rules for statuses, and for answers and errors by their schemas."""

from collections.abc import Iterator
from typing import ClassVar

from specvino.conformance.dialect import CODES, Dialect, Kind
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.message_shape import template_of
from specvino.conformance.rules.rule import Rule, endpoint_of
from specvino.conformance.verdict import Advice

# Refusals with a status that HTTP defines, whether or not a document lists it.
HTTP_REFUSALS: dict[int, Kind] = {413: "too_large", 415: "media_type"}


ERRORS_OUTSIDE = Advice(
    "Clients with a wrong base URL get this error, and can show its message only if they can parse it.",
    "/components/schemas/ErrorResponse",
)


def is_undocumented(dialect: Dialect, exchange: Exchange) -> bool:
    """Returns whether the document lacks the path or the method of the request."""
    route = f"{exchange.request.method} {template_of(exchange.request.path.partition('?')[0])}"
    return not endpoint_of(exchange) and route not in {operation.label for operation in dialect.operations.values()}


class AnswerShape(Rule):
    name = "answer-shape"
    says = "A JSON answer fits the document's schema."
    specs: ClassVar = {"": "{operation}/responses"}

    def applies(self, exchange: Exchange) -> bool:
        # An invalid request has no documented answer; cases report that the server accepts it.
        body = exchange.request.body
        refused = body is not None and self.dialect.accepts(endpoint_of(exchange), body) is False
        return exchange.ok and not exchange.is_stream and not refused

    def violations(self, exchange: Exchange) -> Iterator[str]:
        shape = self.dialect.answer(endpoint_of(exchange), exchange.status or 0, exchange.media)
        if shape is None and not exchange.request.streamed:
            yield f"the operation has no documented {exchange.status} of the media type {exchange.media!r}"
            return
        try:
            value = exchange.json
        except Unreadable as error:
            yield str(error)
        else:
            yield from shape.violations(value) if shape else ()


class DocumentedStatus(Rule):
    name = "documented-status"
    says = "The status of a successful answer is documented for the operation."
    specs: ClassVar = {"": "{operation}/responses"}

    def applies(self, exchange: Exchange) -> bool:
        return exchange.status is not None and exchange.status < 400

    def violations(self, exchange: Exchange) -> Iterator[str]:
        statuses = self.dialect.documented_statuses(endpoint_of(exchange))
        if exchange.status not in statuses:
            yield f"{exchange.status} isn't documented; documented are {', '.join(map(str, sorted(statuses)))}"


class DocumentedRefusal(DocumentedStatus):
    name = "documented-refusal"
    says = "The status of a refusal is documented for the operation."
    advised: ClassVar = {
        "": Advice("Clients handle errors by status, and know only the documented ones.", "{operation}/responses")
    }

    def applies(self, exchange: Exchange) -> bool:
        status = exchange.status or 0
        kind = HTTP_REFUSALS.get(status)
        is_unknown = kind is not None and self.dialect.statuses(kind, endpoint_of(exchange)) is None
        return 400 <= status < 500 and not is_unknown


class ErrorEnvelope(Rule):
    name = "error-envelope"
    says = "Errors have the documented schema, so that clients can show the message."
    specs: ClassVar = {"": "/components/schemas/ErrorResponse"}

    def applies(self, exchange: Exchange) -> bool:
        return (exchange.status or 0) >= 400 and not is_undocumented(self.dialect, exchange)

    def violations(self, exchange: Exchange) -> Iterator[str]:
        endpoint = endpoint_of(exchange)
        shape = self.dialect.error(endpoint, exchange.status or 0)
        if exchange.request.is_message:
            shape = self.dialect.message_error(endpoint)
        if shape is None:
            return
        if not exchange.content:
            yield f"a {exchange.status} has no body"
            return
        try:
            yield from shape.violations(exchange.json)
        except Unreadable as error:
            yield str(error)


class UnroutedEnvelope(ErrorEnvelope):
    name = "unrouted-envelope"
    says = "Errors of undocumented paths and methods have the documented schema, too."
    advised: ClassVar = {"": ERRORS_OUTSIDE}

    def applies(self, exchange: Exchange) -> bool:
        return (exchange.status or 0) >= 400 and is_undocumented(self.dialect, exchange)


class NoServerError(Rule):
    name = "no-server-error"
    says = "No request causes a server error: what the server doesn't support, it refuses with a 4xx or 501."
    specs: ClassVar = {"transport": "/components/responses/InternalError", "": "{operation}/responses"}

    def applies(self, exchange: Exchange) -> bool:
        return exchange.status is not None

    def violations(self, exchange: Exchange) -> Iterator[str]:
        if (exchange.status or 0) >= 500 and exchange.status not in {501, *self._refusals(exchange)}:
            yield f"the status is {exchange.status}: {exchange.content[:200].decode('utf-8', 'replace')}"

    def _refusals(self, exchange: Exchange) -> set[int]:
        """Returns the statuses with which the system refuses invalid requests: some use 500."""
        by_kind = (self.dialect.statuses(kind, endpoint_of(exchange)) for kind in CODES)
        return {status for statuses in by_kind for status in statuses or ()}
