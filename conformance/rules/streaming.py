"""Rules for streams, of server-sent events or of lines."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.rule import Rule, endpoint_of
from specvino.conformance.streams.stream_validator import SseValidator
from specvino.conformance.streams.strict_json import strict_json
from specvino.conformance.verdict import Advice
from specvino.document.operations import FRAMINGS
from specvino.document.pointers import escape
from specvino.generated.streams import STREAMS

# OpenAI's terminator. Many servers send it where their dialect has none, which `stream-end` reports.
DONE = "[DONE]"


# The schema of events, where `{media}` is replaced by the media type of the endpoint's streams.
EVENT = "{operation}/responses/200/content/{media}/itemSchema"


class _StreamRule(Rule):
    def spec(self, endpoint: str) -> str:
        media = FRAMINGS[STREAMS[endpoint].framing] if endpoint in STREAMS else ""
        return super().spec(endpoint).replace("{media}", escape(media))

    def concerns(self, endpoint: str) -> bool:
        return self.dialect.event(endpoint) is not None

    def applies(self, exchange: Exchange) -> bool:
        return exchange.is_stream and exchange.status == 200 and endpoint_of(exchange) in self.dialect.operations


class EventShape(_StreamRule):
    name = "event-shape"
    says = "Every event is JSON, and fits the document's schema."
    specs: ClassVar = {"": EVENT}

    def violations(self, exchange: Exchange) -> Iterator[str]:
        end = self.dialect.terminator(endpoint_of(exchange))
        if self.dialect.event(endpoint_of(exchange)) is None:
            yield "the operation has no documented stream"
            return
        for number, event in enumerate(exchange.events):
            if event.data == (end or DONE):
                continue
            try:
                value = strict_json(event.data)
            except (ValueError, RecursionError):
                yield f"event {number} isn't JSON: {event.data[:80]!r}"
                return
            if not self.dialect.governs(endpoint_of(exchange), value):
                continue
            for violation in self._violations(exchange, value):
                yield f"event {number}: {violation}"
                return  # later events mostly have the same fault

    def _violations(self, exchange: Exchange, value: Any) -> Iterator[str]:
        endpoint = endpoint_of(exchange)
        event = self.dialect.event(endpoint, value)
        shapes = self.dialect.message(endpoint, value) if exchange.request.is_message else (event,)
        for shape in shapes:
            yield from shape.violations(value) if shape else ()


class KnownEvents(_StreamRule):
    name = "known-events"
    says = "Every event is of a type that the document has."
    specs: ClassVar = {"": EVENT}
    advised: ClassVar = {
        "": Advice(
            "Clients that know all types, as some of OpenAI's own packages do, fail at another one.",
            "https://github.com/openai/openai-node/issues/1964",
        )
    }

    def concerns(self, endpoint: str) -> bool:
        return super().concerns(endpoint) and isinstance(STREAMS[endpoint].classify, str)

    def applies(self, exchange: Exchange) -> bool:
        return super().applies(exchange) and self.concerns(endpoint_of(exchange))

    def violations(self, exchange: Exchange) -> Iterator[str]:
        types = (self.dialect.undocumented_type(endpoint_of(exchange), event) for event in exchange.objects)
        for name in dict.fromkeys(filter(None, types)):
            yield f"the document has no event {name!r}"


class StreamOrder(_StreamRule):
    name = "stream-order"
    says = "The order of events follows the document's table (x-stream), and no event is missing."
    specs: ClassVar = {"": "{operation}/x-stream"}

    def applies(self, exchange: Exchange) -> bool:
        if not super().applies(exchange) or exchange.ended == "left":
            return False
        return self.dialect.stream(endpoint_of(exchange)) is not None

    def violations(self, exchange: Exchange) -> Iterator[str]:
        table = self.dialect.stream(endpoint_of(exchange))
        assert table is not None
        if exchange.request.is_message:
            table = replace(table, framing="data", terminator=None)
        validator = SseValidator(table, partial(self.dialect.described_event, endpoint_of(exchange)))
        for event in exchange.events:
            if table.terminator is not None or event.data != DONE:
                yield from validator.feed(event)
        # `stream-end` reports a connection that ends early.
        yield from (problem for problem in validator.end() if "doesn't end with" not in problem)


class RoleOnce(_StreamRule):
    """Reports repeated roles if the document doesn't specify the chunks with a role; otherwise the stream's order
    does."""

    name = "role-once"
    says = "Only one chunk of a choice has its role."
    specs: ClassVar = {"chat": "/components/schemas/ChatDelta/properties/role"}
    advised: ClassVar = {
        "chat": Advice(
            "Clients that concatenate all strings of the deltas, as OpenAI's own stream helper does, get the role "
            "assistantassistant.",
            "https://github.com/openai/openai-python/blob/v3.54.0/src/openai/lib/streaming/_deltas.py",
        )
    }

    def concerns(self, endpoint: str) -> bool:
        return endpoint in self.specs and not self.dialect.specifies_role_chunks

    def applies(self, exchange: Exchange) -> bool:
        return super().applies(exchange) and self.concerns(endpoint_of(exchange))

    def violations(self, exchange: Exchange) -> Iterator[str]:
        choices = (choice for chunk in exchange.chunks for choice in chunk.get("choices") or ())
        roles = Counter(choice.get("index") for choice in choices if (choice.get("delta") or {}).get("role"))
        for index, times in roles.items():
            if times > 1:
                yield f"choice {index} has its role in {times} chunks"


class StreamEnd(_StreamRule):
    name = "stream-end"
    says = "A stream is valid UTF-8 and ends as documented, and then the connection is free."
    specs: ClassVar = {"": "{operation}/x-stream/terminator"}

    def applies(self, exchange: Exchange) -> bool:
        return super().applies(exchange) and exchange.ended != "left"

    def violations(self, exchange: Exchange) -> Iterator[str]:
        if exchange.problem:
            yield exchange.problem
            return
        try:
            exchange.content.decode("utf-8")
        except UnicodeDecodeError as error:
            yield f"the stream isn't UTF-8: {error.reason} at byte {error.start}"
        decoder = exchange.decoder()
        events = list(exchange.events if exchange.request.is_message else decoder.feed(exchange.content))
        if decoder.incomplete:
            yield "the stream ends inside an event"
        end = None if exchange.request.is_message else self.dialect.terminator(endpoint_of(exchange))
        ends = [event.data for event in events].count(end) if end else 0
        if end and (ends != 1 or events[-1].data != end):
            yield (
                f"the stream has {end} {ends} times, and ends with {events[-1].data[:80]!r}"
                if events
                else "the stream is empty"
            )
        if end is None and DONE in [event.data for event in events]:
            yield f"the stream ends with {DONE}, which isn't an event of the {endpoint_of(exchange)} API"
