"""How an exchange ended: with a right answer, or with an error as the document has it. Anything else is a fault."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from specvino.conformance.dialect import Dialect
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules import RULES, RULES_OF_TRANSPORT
from specvino.conformance.rules.rule import Rule
from specvino.conformance.rules.shapes import NoServerError
from specvino.conformance.rules.streaming import EventShape, StreamEnd, StreamOrder
from specvino.generated.errors import ERRORS, ErrorCode

# `broken` is a stream that ended with an error in it, `left` one whose client went away, `lost` none of these.
Outcome = Literal["answered", "refused", "broken", "left", "lost"]

# What holds for a stream that ends with an error, too.
_OF_BROKEN = (EventShape, StreamOrder, StreamEnd)

# Their say is ours: statuses of 500 and more are judged by the code.
_LEFT_OUT = (NoServerError,)


# The code of every response that failed in its stream, whatever the cause (openapi/schemas/responses/response.yaml).
FAILED = "server_error"


@dataclass(frozen=True, slots=True)
class End:
    """`code` is the error's; `wrong` holds what isn't as it should be, each a sentence."""

    outcome: Outcome
    code: str | None = None
    wrong: tuple[str, ...] = ()

    @property
    def retryable(self) -> bool:
        return self.code == FAILED or (self.code in ERRORS and ERRORS[ErrorCode(self.code)].retryable)


class Ends:
    """Judges all exchanges of one server by its document."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._rules: dict[str, list[Rule]] = {}

    def judge(self, exchange: Exchange) -> End:
        if exchange.ended not in ("complete", "left"):
            return End("lost", None, (f"{exchange}: {exchange.problem or exchange.ended}",))
        if exchange.status is None or (exchange.ended == "left" and not exchange.is_stream):
            return End("left")
        code = error_code(exchange)
        wrong = [
            *self._of_rules(exchange, broken=code is not None and exchange.status < 400),
            *_of_code(exchange.status, code),
        ]
        if exchange.ended == "left":
            return End("left", code, tuple(wrong))
        if exchange.status >= 400:
            return End("refused", code, tuple(wrong))
        return End("broken" if code else "answered", code, tuple(wrong))

    def _of_rules(self, exchange: Exchange, *, broken: bool) -> Iterator[str]:
        for rule in self._for(exchange.request.endpoint):
            if isinstance(rule, _LEFT_OUT) or (broken and not isinstance(rule, _OF_BROKEN)):
                continue
            try:
                if rule.applies(exchange):
                    yield from (f"{rule.name}: {violation}" for violation in rule.violations(exchange))
            except (Unreadable, LookupError, TypeError, ValueError, AttributeError):
                continue  # the answer has another shape than the rule needs, which the rules for shapes tell

    def _for(self, endpoint: str | None) -> list[Rule]:
        name = endpoint if endpoint in self.dialect.operations else None
        if (name or "") not in self._rules:
            rules = RULES if name else RULES_OF_TRANSPORT
            self._rules[name or ""] = [rule(self.dialect) for rule in rules]
        return self._rules[name or ""]


def error_code(exchange: Exchange) -> str | None:
    """Returns the code of the error with which an exchange ended, in its body or in its stream."""
    if (exchange.status or 0) >= 400:
        return _code(exchange.error)
    for chunk in reversed(exchange.chunks):
        if isinstance(chunk.get("error"), dict):
            return _code(chunk["error"])
        if chunk.get("type") == "error":
            return _code(chunk)
        if chunk.get("type") == "response.failed":
            return _code(chunk["response"].get("error") or {})
    return None


def _code(error: Any) -> str:
    return str(error.get("code"))


def _of_code(status: int, code: str | None) -> Iterator[str]:
    if code is None or (code == FAILED and status < 400):
        return
    if code not in ERRORS:
        yield f"the error's code is {code}, which the document hasn't"
    elif code == ErrorCode.INTERNAL_ERROR:
        yield "an internal error"
    elif status >= 400 and ERRORS[ErrorCode(code)].status != status:
        yield f"{code} has the status {status}"
