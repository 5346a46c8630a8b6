"""The base of all rules."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Advice


class Rule(ABC):
    """A rule for the exchanges of one endpoint, one after the other; it may remember earlier ones."""

    name: str
    says: str
    specs: ClassVar[Mapping[str, str]]
    """JSON pointers to the place in the document that has the rule, by endpoint, under "" for all others; `{operation}`
    stands for the endpoint's operation."""

    advised: ClassVar[Mapping[str, Advice]] = {}
    """The reasons for which the rule is advice, by endpoint, under "" for all others; without one it is `must`."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def concerns(self, endpoint: str) -> bool:
        """Returns whether an answer of the endpoint could exercise the rule."""
        return endpoint in self.specs or "" in self.specs

    def advice(self, endpoint: str) -> Advice | None:
        """Returns why the rule is only advice for an endpoint; None if the document requires it."""
        advice = self.advised.get(endpoint, self.advised.get(""))
        return advice and replace(advice, source=advice.source.replace("{operation}", self._place(endpoint)))

    def _place(self, endpoint: str) -> str:
        operation = self.dialect.operations.get(endpoint)
        return f"/paths/{operation.path.replace('/', '~1')}/{operation.method.lower()}" if operation else ""

    def spec(self, endpoint: str) -> str:
        """Returns the JSON pointer into the document for an endpoint."""
        return self.specs.get(endpoint, self.specs.get("", "")).replace("{operation}", self._place(endpoint))

    @abstractmethod
    def applies(self, exchange: Exchange) -> bool:
        """Returns whether the rule applies to an exchange, which has an answer."""

    @abstractmethod
    def violations(self, exchange: Exchange) -> Iterator[str]:
        """Yields the violations, each a sentence. May raise Unreadable, which other rules report."""


def endpoint_of(exchange: Exchange) -> str:
    """Returns the endpoint of an exchange; empty without one."""
    return exchange.request.endpoint or ""
