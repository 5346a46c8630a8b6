"""The same request, streamed and not."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from specvino.conformance.cases.session import Session
from specvino.conformance.dialect import WHOLE
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised

# What belongs to one answer alone, or to being streamed.
OWN = (
    "id",
    "call_id",
    "created",
    "created_at",
    "completed_at",
    "system_fingerprint",
    "object",
    "service_tier",
    "cached_tokens",
    "timings",
)

# What some systems have in whole answers alone, or what a fold of chunks leaves out: it is of one system.
UNARY = ("bytes", "metadata", "matched_stop", "reasoning_tokens")

# Rounds in which the streamed answer and the whole one stay as they are, and differ, before that is wrong.
ROUNDS = 3


async def stream_parity(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """What a stream adds up to is what the server answers without streaming."""
    options = {"stream_options": {"include_usage": True}} if endpoint != "responses" else {}
    # What another system has beyond its document, it may have in one form alone.
    known = None if session.dialect.name == WHOLE else session.dialect.members
    unary: list[Exchange] = []
    streamed: list[Exchange] = []
    for _ in range(ROUNDS):
        unary.append(await session.answered(endpoint, body))
        streamed.append(await session.answered(endpoint, {**body, "stream": True, **options}))
        # An answer may be another because nothing of its prompt was in a cache yet, or by the luck of rounding.
        if any(_difference(one, other, known) is None for one in unary for other in streamed):
            return
    if any(_difference(each[0], other, known) for each in (unary, streamed) for other in each):
        raise NotExercised("the server answers the same request differently each time, so that nothing can be compared")
    raise Failed(str(_difference(unary[0], streamed[0], known)), unary[0], streamed[0])


def _difference(one: Exchange, other: Exchange, known: Collection[str] | None) -> str | None:
    """Returns where the answers differ. `known` are the members that the document has; None is for our own document,
    whose servers have no others and may differ in nothing. Raises Unreadable."""
    ours = known is None
    left_out = {"usage"} if not ours and not _counted_once(one, other) else set()
    whole, added = ({k: v for k, v in each.answer.items() if k not in left_out} for each in (one, other))
    return _where(_comparable(whole, ours), _comparable(added, ours), known)


def _counted_once(unary: Exchange, stream: Exchange) -> bool:
    """Tells whether both have usage, and the stream not that of its choices one by one, which nobody adds up."""
    told = all(each.answer.get("usage") for each in (unary, stream))
    return told and sum(bool(chunk.get("usage")) for chunk in stream.chunks) <= 1


def _comparable(value: Any, ours: bool) -> Any:
    """Returns the answer without ids and times, and without what is null, empty or absent: the shapes are checked
    elsewhere. Some systems have the bytes of tokens, the numbers of calls, and kinds of tokens of which there are none,
    in whole answers alone."""
    if isinstance(value, Mapping):
        kept = {key: _comparable(each, ours) for key, each in value.items() if key not in OWN}
        filled = {key: each for key, each in kept.items() if each not in (None, "", [], {})}
        if ours:
            return filled
        left_out = (*UNARY, "index") if "function" in filled else UNARY
        return {key: each for key, each in filled.items() if key not in left_out and not _none_of(key, each)}
    if isinstance(value, list):
        return [_comparable(each, ours) for each in value]
    return value


def _none_of(name: str, value: Any) -> bool:
    return name.endswith("_details") and isinstance(value, Mapping) and not any(value.values())


def _where(one: Any, other: Any, known: Collection[str] | None, path: str = "") -> str | None:
    """Returns the first place in which they differ, as a sentence."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other}):
            if key not in one or key not in other:
                # What a document lets out, a system may leave out of one form.
                if known is not None and (key not in known or key.endswith("_details")):
                    continue
                which = "streamed" if key not in one else "not streamed"
                return f"{path}{key} is there only when {which}"
            if found := _where(one[key], other[key], known, f"{path}{key}."):
                return found
        return None
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return next(
            (f for i, (a, b) in enumerate(zip(one, other, strict=True)) if (f := _where(a, b, known, f"{path}{i}."))),
            None,
        )
    if isinstance(one, float) and isinstance(other, float | int):
        return None if abs(one - other) <= 1e-3 * max(1.0, abs(one)) else _sentence(path, one, other)
    return None if one == other else _sentence(path, one, other)


def _sentence(path: str, one: Any, other: Any) -> str:
    shown = [json.dumps(each, ensure_ascii=False)[:120] for each in (one, other)]
    return f"{path.removesuffix('.')} is {shown[0]} unary, but the stream makes it {shown[1]}"
