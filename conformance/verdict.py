"""Verdicts: what a run says of a rule."""

from dataclasses import dataclass
from enum import StrEnum

from specvino.conformance.http.exchange import Exchange


class Verdict(StrEnum):
    """`unsupported` is for what a server may be without, and says so with a proper error; `skip` is for what could not
    be judged, `error` for a check that broke itself."""

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """Says what is wrong, as a sentence, with the exchanges that show it."""

    message: str
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """Holds what a run found about one rule. `rule` is an id such as `chat/stop/string`; `spec` a JSON pointer into the
    document; `checked` how many exchanges were looked at; `because` says why there is no verdict."""

    rule: str
    layer: str
    says: str
    verdict: Verdict
    spec: str = ""
    issues: tuple[str, ...] = ()
    because: str = ""
    findings: tuple[Finding, ...] = ()
    checked: int = 0
    seconds: float = 0.0


class Failed(Exception):
    """A case does not hold; a check raises this."""

    def __init__(self, message: str, *exchanges: Exchange) -> None:
        super().__init__(message)
        self.finding = Finding(message, exchanges)


class Refused(Exception):
    """A server says properly that it hasn't a capability; a probe for one raises this."""


class Skipped(Exception):
    """A case can't be tested on this server; the text says why."""
