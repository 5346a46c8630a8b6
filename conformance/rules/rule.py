"""The base of all rules."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange


class Rule(ABC):
    """Judges the exchanges of one endpoint, one after the other; it may remember earlier ones."""

    name: str
    says: str
    specs: ClassVar[Mapping[str, str]]
    """By endpoint, under "" for all others, a JSON pointer to the place in the document that says it; `{operation}` in
    it is the endpoint's."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def spec(self, endpoint: str) -> str:
        """Returns the JSON pointer into the document for an endpoint."""
        operation = self.dialect.operations.get(endpoint)
        place = operation and f"/paths/{operation.path.replace('/', '~1')}/{operation.method.lower()}"
        return self.specs.get(endpoint, self.specs.get("", "")).replace("{operation}", place or "")

    @abstractmethod
    def applies(self, exchange: Exchange) -> bool:
        """Tells whether there is anything to look at. The exchange has an answer."""

    @abstractmethod
    def violations(self, exchange: Exchange) -> Iterator[str]:
        """Yields what is wrong, each a sentence. May raise Unreadable, which is for other rules to tell."""


def endpoint_of(exchange: Exchange) -> str:
    """Returns the endpoint of an exchange that has one."""
    return exchange.request.endpoint or ""
