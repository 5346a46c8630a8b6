"""What a rule is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator

from specvino.conformance.dialect import Dialect
from specvino.conformance.exchange import Exchange


class Rule(ABC):
    """Judges the exchanges of one endpoint, one after the other; may remember earlier ones."""

    name: str
    says: str
    spec: str = ""
    """A JSON pointer into the document, where one place there says it."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    @abstractmethod
    def applies(self, exchange: Exchange) -> bool:
        """Whether there is anything to judge. The exchange has an answer."""

    @abstractmethod
    def judge(self, exchange: Exchange) -> Iterator[str]:
        """What is wrong, each a sentence. May raise Unreadable, which is for other rules to tell."""


def endpoint_of(exchange: Exchange) -> str:
    """The endpoint, of an exchange that has one."""
    return exchange.request.endpoint or ""
