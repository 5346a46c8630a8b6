"""The ids of answers, calls and items."""

from collections.abc import Iterator
from typing import ClassVar

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.rule import Rule


class IdsUnique(Rule):
    name = "ids-unique"
    says = "No two answers have one id."
    specs: ClassVar = {
        "chat": "/components/schemas/ChatCompletion/properties/id",
        "completions": "/components/schemas/Completion/properties/id",
        "responses": "/components/schemas/ResponseObject/properties/id",
    }

    def __init__(self, dialect: Dialect) -> None:
        super().__init__(dialect)
        self._seen: dict[str, int] = {}

    def applies(self, exchange: Exchange) -> bool:
        judged = exchange.request.endpoint in ("chat", "completions", "responses")
        return exchange.ok and judged and self.dialect.gives_unique_ids

    def violations(self, exchange: Exchange) -> Iterator[str]:
        id = exchange.answer.get("id")
        if not isinstance(id, str):
            return  # the shape is wrong, which is for another rule
        if id in self._seen:
            yield f"the id {id!r} is that of an earlier answer"
        self._seen[id] = exchange.number
