"""Verdicts: what a run says of a rule."""

from dataclasses import dataclass
from enum import StrEnum

from specvino.conformance.http.exchange import Exchange


class Severity(StrEnum):
    """How binding a rule is: `must` is what the document says that the server is judged by, `should` is advice, which
    has its reason and its source. (What a server may offer or not has the verdict `unsupported`.)"""

    MUST = "must"
    SHOULD = "should"


class Verdict(StrEnum):
    """`unsupported` is for what a server may be without, and says so with a proper error; `not-exercised` for what the
    answers of this run gave no cause to judge; `skip` for what another finding, or the end of the run, kept from being
    judged; `error` for a check that broke itself."""

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    NOT_EXERCISED = "not-exercised"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Advice:
    """Says why a rule is advice: what goes wrong where it is broken, and who says so (an address, or a place in the
    document)."""

    because: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Says what is wrong, as a sentence, with the exchanges that show it."""

    message: str
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """Holds what a run found about one rule. `rule` is an id such as `chat/stop/string`; `spec` a JSON pointer into the
    document; `checked` how many exchanges were looked at; `because` says why there is no verdict; `follows` is the rule
    for all answers that was broken by the very answer that is wrong here. Without `advice` the rule is what the
    document says."""

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
    advice: Advice | None = None
    follows: str = ""


class Failed(Exception):
    """A case does not hold; a check raises this. With `advice` what is wrong here is no more than that, whatever the
    case is."""

    def __init__(self, message: str, *exchanges: Exchange, advice: Advice | None = None) -> None:
        super().__init__(message)
        self.finding = Finding(message, exchanges)
        self.advice = advice


class Refused(Exception):
    """A server says properly that it hasn't a capability; a probe for one raises this."""


class NotExercised(Exception):
    """What the server answered gives a case nothing to judge; the text says why."""
