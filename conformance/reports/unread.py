"""The parts of a request that its prompt lacks: the difference between the two requests of a finding about token
counts."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.reports.causes import Cause, Kind
from specvino.conformance.reports.records import ExchangeRecord, FindingRecord

# Fields whose values become a prompt, those of them with earlier turns, and the roles of those who take turns.
EARLIER = {"conversation", "previous_response_id"}
PROMPT = {"input", "instructions", "messages", "prompt", "system"} | EARLIER
CONVERSING = {"assistant", "user"}


def unread(finding: FindingRecord) -> Iterator[Cause]:
    """Yields what the first two requests of a finding differ in, though their prompts have as many tokens."""
    one, other = _compared(finding)
    numbers = {sum(turn.get("role") in CONVERSING for turn in _turns(body)) for body in (one, other)}
    if _has_same_end(one, other) and len(numbers) > 1:
        yield Cause(Kind.EARLIER)
        return
    missing = [turn for turn in _turns(other) if turn not in _turns(one)]
    missing += [turn for turn in _turns(one) if turn not in _turns(other)]
    differing = _differing(one, other) - {"store"}
    named = sorted(differing & EARLIER) or [_role(turn) for turn in missing[:1]] or sorted(differing)
    for subject in named:
        yield Cause(Kind.UNREAD, subject, (f"`{subject}`" if subject in differing else f"`{subject}` turns",))


def _compared(finding: FindingRecord) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the bodies of the first two requests of a finding, empty ones if there are none."""
    one, other = [*map(body_of, finding.exchanges), {}, {}][:2]
    return one, other


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def _turns(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns what a request says, with instructions as a turn of the system."""
    messages = body.get("messages", body.get("input"))
    turns = messages if isinstance(messages, list) else [messages]
    first = [{"role": "system", "content": body[name]} for name in ("system", "instructions") if body.get(name)]
    return [*first, *(turn if isinstance(turn, dict) else {"role": "user", "content": turn} for turn in turns)]


def _role(turn: Mapping[str, Any]) -> str:
    role = str(turn.get("role", turn.get("type")))
    return "system" if role == "developer" else role


def _has_same_end(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Returns whether two requests have the same last turn."""
    return _turns(one)[-1:] == _turns(other)[-1:]


def is_earlier(finding: FindingRecord) -> bool:
    """Returns whether the first two requests of a finding differ in nothing but what comes before the last turn."""
    one, other = _compared(finding)
    differing = _differing(one, other)
    return differing <= PROMPT | {"store"} and (_has_same_end(one, other) or bool(differing & EARLIER))


def body_of(exchange: ExchangeRecord) -> dict[str, Any]:
    """Returns the JSON object that a request sends; an empty one without it."""
    try:
        body = json.loads(exchange.request.body or "")
    except (ValueError, RecursionError):  # a request may be nested very deeply
        return {}
    return body if isinstance(body, dict) else {}
