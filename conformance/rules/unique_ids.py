"""Rules for the uniqueness of ids: of answers and of tool calls."""

from collections.abc import Iterator
from typing import Any, ClassVar

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.rule import Rule, endpoint_of
from specvino.conformance.verdict import Advice


class IdsUnique(Rule):
    name = "ids-unique"
    says = "No two answers have the same id."
    specs: ClassVar = {
        "chat": "/components/schemas/ChatCompletion/properties/id",
        "completions": "/components/schemas/Completion/properties/id",
        "responses": "/components/schemas/ResponseObject/properties/id",
        "messages": "/components/schemas/AnthropicMessage/properties/id",
    }

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._seen: set[int] = set()  # hashes, since a server may send ids of megabytes

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and exchange.request.endpoint in self.specs and self.dialect.has_unique_ids

    def violations(self, exchange: Exchange) -> Iterator[str]:
        id = exchange.answer.get("id")
        if not isinstance(id, str):
            return  # the rules for shapes report that
        if hash(id) in self._seen:
            yield f"the id {id!r} is that of an earlier answer"
        self._seen.add(hash(id))


class CallIdsUnique(Rule):
    name = "call-ids-unique"
    says = "No two calls have the same id, in one answer or in several."
    specs: ClassVar = {
        "chat": "/components/schemas/ChatToolCall/properties/id",
        "responses": "/components/schemas/OutputFunctionCall/properties/call_id",
    }
    advised: ClassVar = {
        "": Advice(
            "A conversation has calls of several turns, and agents match results to calls by id.",
            "https://github.com/NousResearch/hermes-agent/issues/70724",
        )
    }

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._seen: set[int] = set()  # hashes, since a server may send ids of megabytes

    def applies(self, exchange: Exchange) -> bool:
        return exchange.ok and exchange.request.endpoint in self.specs and any(_call_ids(exchange))

    def violations(self, exchange: Exchange) -> Iterator[str]:
        for id in _call_ids(exchange):
            if hash(id) in self._seen:
                yield f"the id {id!r} is that of an earlier call"
            self._seen.add(hash(id))


def _call_ids(exchange: Exchange) -> Iterator[str]:
    if endpoint_of(exchange) == "responses":
        items: list[dict[str, Any]] = exchange.answer["output"]
        yield from (item["call_id"] for item in items if item["type"] == "function_call")
    else:
        for choice in exchange.answer["choices"]:
            yield from (call["id"] for call in choice["message"].get("tool_calls") or ())
