"""Verdicts: what a run says of a rule."""

from dataclasses import dataclass
from enum import StrEnum

from specvino.conformance.http.exchange import Exchange


class Severity(StrEnum):
    """How binding a rule is: `must` rules come from the document, `should` is advice with a reason and a source. (An
    optional feature that a server is without has the verdict `unsupported`.)"""

    MUST = "must"
    SHOULD = "should"


class Verdict(StrEnum):
    """The result of a rule. `unsupported` is an optional feature that the server refuses with a proper error;
    `not-exercised` a rule that no answer of this run exercised; `skip` one whose check another finding, or the end of
    the run, prevented; `error` a check that failed itself."""

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    NOT_EXERCISED = "not-exercised"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Advice:
    """The reason for a rule that is advice: what goes wrong where it is broken, and the source (an address, or a place
    in the document)."""

    because: str
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault as a sentence, with the exchanges that show it."""

    message: str
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one rule. `rule` is an id such as `chat/stop/string`; `spec` a JSON pointer into the document;
    `checked` the number of exchanges that were checked; `because` the reason where there is no verdict; `follows` the
    rule for all answers that the same answer breaks. Without `advice` the rule is `must`."""

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
    """Raised by a check of a case that does not hold. With `advice` the fault is advice, whatever the case is."""

    def __init__(self, message: str, *exchanges: Exchange, advice: Advice | None = None) -> None:
        super().__init__(message)
        self.finding = Finding(message, exchanges)
        self.advice = advice


class Refused(Exception):
    """Raised if a server properly refuses an optional feature."""


class NotExercised(Exception):
    """Raised if the answers don't exercise a case; the text says why."""
