"""Rules for all answers, whatever the request."""

from collections.abc import Callable

from specvino.conformance.dialect import Dialect
from specvino.conformance.rules.endings import FinishAgrees, StopAbsent, TokenLimit
from specvino.conformance.rules.logprobs import LogprobsJoin
from specvino.conformance.rules.rule import Rule
from specvino.conformance.rules.shapes import (
    AnswerShape,
    DocumentedRefusal,
    DocumentedStatus,
    ErrorEnvelope,
    NoServerError,
    UnroutedEnvelope,
)
from specvino.conformance.rules.streaming import EventShape, KnownEvents, RoleOnce, StreamEnd, StreamOrder
from specvino.conformance.rules.tool_calls import ArgumentsValid, NoEmptyCalls
from specvino.conformance.rules.unique_ids import CallIdsUnique, IdsUnique
from specvino.conformance.rules.usage import UsageAddsUp

RULES: tuple[Callable[[Dialect], Rule], ...] = (
    NoServerError,
    AnswerShape,
    DocumentedStatus,
    DocumentedRefusal,
    ErrorEnvelope,
    EventShape,
    KnownEvents,
    StreamOrder,
    RoleOnce,
    StreamEnd,
    UsageAddsUp,
    FinishAgrees,
    TokenLimit,
    StopAbsent,
    ArgumentsValid,
    NoEmptyCalls,
    LogprobsJoin,
    IdsUnique,
    CallIdsUnique,
)

# Rules for requests outside of the document's operations.
RULES_OF_TRANSPORT: tuple[Callable[[Dialect], Rule], ...] = (NoServerError, ErrorEnvelope, UnroutedEnvelope)
