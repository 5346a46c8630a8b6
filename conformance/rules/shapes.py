"""The shapes of answers and errors, by their schemas."""

from collections.abc import Iterator
from typing import ClassVar

from specvino.conformance.dialect import CODES
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules.rule import Rule, endpoint_of
from specvino.conformance.verdict import Advice


class AnswerShape(Rule):
    name = "answer-shape"
    says = "A JSON answer is what the document's schema for it says."
    specs: ClassVar = {"": "{operation}/responses"}

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and not exchange.is_stream

    def violations(self, exchange: Exchange) -> Iterator[str]:
        shape = self.dialect.answer(endpoint_of(exchange), exchange.status or 0, exchange.media)
        if exchange.request.streamed:
            yield f"a stream was asked for, and the answer is {exchange.media or 'of no media type'}"
        elif shape is None:
            yield f"the document has no {exchange.status} of the media type {exchange.media!r} here"
        else:
            try:
                yield from shape.violations(exchange.json)
            except Unreadable as error:
                yield str(error)


class DocumentedStatus(Rule):
    name = "documented-status"
    says = "What is answered, and not refused, has a status that the document lists for the operation."
    specs: ClassVar = {"": "{operation}/responses"}

    def applies(self, exchange: Exchange) -> bool:
        return exchange.status is not None and exchange.status < 400

    def violations(self, exchange: Exchange) -> Iterator[str]:
        known = self.dialect.documented(endpoint_of(exchange))
        if exchange.status not in known:
            yield f"{exchange.status} is not documented; there are {', '.join(map(str, sorted(known)))}"


class DocumentedRefusal(DocumentedStatus):
    name = "documented-refusal"
    says = "A request is refused with a status that the document lists for the operation."
    advised: ClassVar = {
        "": Advice(
            "Clients choose by the status what to do next, and know those of the document.", "{operation}/responses"
        )
    }

    def applies(self, exchange: Exchange) -> bool:
        return 400 <= (exchange.status or 0) < 500


class ErrorEnvelope(Rule):
    name = "error-envelope"
    says = "Every error has the documented form, so that clients can show what it says."
    specs: ClassVar = {"": "/components/schemas/ErrorResponse"}

    def applies(self, exchange: Exchange) -> bool:
        return (exchange.status or 0) >= 400

    def violations(self, exchange: Exchange) -> Iterator[str]:
        shape = self.dialect.error(endpoint_of(exchange), exchange.status or 0)
        if shape is None:
            return
        if not exchange.content:
            yield f"a {exchange.status} has no body"
            return
        try:
            yield from shape.violations(exchange.json)
        except Unreadable as error:
            yield str(error)


class NoServerError(Rule):
    name = "no-server-error"
    says = "No request makes the server fail: what it can't do it refuses with a 4xx."
    specs: ClassVar = {"transport": "/components/responses/InternalError", "": "{operation}/responses"}

    def applies(self, exchange: Exchange) -> bool:
        return exchange.status is not None

    def violations(self, exchange: Exchange) -> Iterator[str]:
        if (exchange.status or 0) >= 500 and exchange.status not in self._refusals(exchange):
            yield f"the status is {exchange.status}: {exchange.content[:200].decode('utf-8', 'replace')}"

    def _refusals(self, exchange: Exchange) -> set[int]:
        """Returns the statuses with which the system refuses what clients get wrong: some have a 500 for it."""
        said = (self.dialect.statuses(kind, endpoint_of(exchange)) for kind in CODES)
        return {status for statuses in said for status in statuses or ()}
