"""Severities, verdicts, findings and results of rules."""

from dataclasses import dataclass
from enum import StrEnum

from specvino.conformance.http.exchange import Exchange


class Severity(StrEnum):
    """The obligation of a rule. A `must` rule follows from the system's document; a `should` rule is advice with a
    reason and a source."""

    MUST = "must"
    SHOULD = "should"


class Verdict(StrEnum):
    """The outcome of a rule.

    - `unsupported`: an optional feature, which the server refuses with a proper error
    - `not-exercised`: no answer of the run exercised the rule
    - `skip`: another finding, or the end of the run, prevented the check
    - `error`: the check itself failed
    """

    PASS = "pass"
    FAIL = "fail"
    UNSUPPORTED = "unsupported"
    NOT_EXERCISED = "not-exercised"
    SKIP = "skip"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Advice:
    """Why a rule is only advice: the consequence of breaking it, and the source (a URL, or a JSON pointer into the
    document)."""

    because: str
    source: str


# The maximum length of a finding's message, in characters: it may quote an answer.
LONGEST_MESSAGE = 16_000


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation, as a sentence, with the exchanges that show it, of which it keeps excerpts."""

    message: str
    exchanges: tuple[Exchange, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", self.message[:LONGEST_MESSAGE])
        object.__setattr__(self, "exchanges", tuple(exchange.excerpt() for exchange in self.exchanges))


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one rule.

    `rule` is an id such as `chat/stop/string`; `spec` is a JSON pointer into the document; `checked` is the number of
    exchanges that were checked; `because` is the reason for a missing verdict; `follows` is the id of a rule for all
    answers that the same exchange breaks. With `advice` the rule is `should`, otherwise `must`.
    """

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
    """Raised by a check if the server breaks the rule. `advice` overrides the advice of the case. If the message
    compares two exchanges, they are the first ones: reports tell what their requests differ in."""

    def __init__(self, message: str, *exchanges: Exchange, advice: Advice | None = None) -> None:
        super().__init__(message)
        self.finding = Finding(message, exchanges)
        self.advice = advice


class Refused(Exception):
    """Raised if a server refuses an optional feature with a proper error."""


class NotExercised(Exception):
    """Raised if the answers don't exercise the rule; the message is the reason."""


class Unsuitable(NotExercised):
    """Raised if what the model said doesn't exercise the rule, as another answer of it may do."""
