"""The base class of rules for all answers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Advice


class Rule(ABC):
    """A rule for all answers of one endpoint. An instance sees the exchanges of a run in order and may keep state."""

    name: str
    says: str
    specs: ClassVar[Mapping[str, str]]
    """JSON pointers to the rule's source in the document, by endpoint; "" is the default. `{operation}` is replaced by
    the pointer to the endpoint's operation."""

    advised: ClassVar[Mapping[str, Advice]] = {}
    """The reasons why the rule is only advice, by endpoint; "" is the default. Without one the rule is `must`."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def concerns(self, endpoint: str) -> bool:
        """Returns whether answers of the endpoint can exercise the rule."""
        return endpoint in self.specs or "" in self.specs

    def advice(self, endpoint: str) -> Advice | None:
        """Returns why the rule is only advice for the endpoint; None if the document requires it."""
        advice = self.advised.get(endpoint, self.advised.get(""))
        return advice and replace(advice, source=advice.source.replace("{operation}", self._pointer(endpoint)))

    def _pointer(self, endpoint: str) -> str:
        operation = self.dialect.operations.get(endpoint)
        return f"/paths/{operation.path.replace('/', '~1')}/{operation.method.lower()}" if operation else ""

    def spec(self, endpoint: str) -> str:
        """Returns the JSON pointer to the rule's source for the endpoint."""
        return self.specs.get(endpoint, self.specs.get("", "")).replace("{operation}", self._pointer(endpoint))

    @abstractmethod
    def applies(self, exchange: Exchange) -> bool:
        """Returns whether the rule applies to an exchange, which has an answer. May raise Unreadable."""

    @abstractmethod
    def violations(self, exchange: Exchange) -> Iterator[str]:
        """Yields the violations as sentences. May raise Unreadable, which the rules for shapes report."""


def endpoint_of(exchange: Exchange) -> str:
    """Returns the endpoint of an exchange; empty without one."""
    return exchange.request.endpoint or ""
