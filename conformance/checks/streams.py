"""Streams: what their chunks hold, and whether they add up to the unary answer."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from specvino.conformance.dialect import WHOLE
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised

NO_USAGE = "include_usage was asked for, but none of the {} chunks has usage"


async def usage_last(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """With include_usage, usage comes in the last chunk, which has no choices, and in no other."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    holders = [index for index, chunk in enumerate(exchange.chunks) if chunk.get("usage") is not None]
    last = len(exchange.chunks) - 1
    if not holders:
        raise Failed(NO_USAGE.format(len(exchange.chunks)), exchange)
    if holders != [last]:
        where = ", ".join(map(str, holders))
        raise Failed(f"of the chunks 0 to {last} those with a usage are: {where}", exchange)
    if exchange.chunks[last].get("choices") != []:
        raise Failed(f"the chunk with the usage has the choices {exchange.chunks[last].get('choices')!r}", exchange)


async def usage_null_before(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """With include_usage, every chunk has the field, null before the end."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    if not any(chunk.get("usage") for chunk in exchange.chunks):
        raise NotExercised(NO_USAGE.format(len(exchange.chunks)))
    without = [index for index, chunk in enumerate(exchange.chunks) if "usage" not in chunk]
    if without:
        raise Failed(f"{len(without)} of {len(exchange.chunks)} chunks have no usage, not even null", exchange)


async def usage_not_asked(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Without include_usage, a stream has no usage: clients that read choices[0] break on a chunk without choices."""
    exchange = await _streamed(session, endpoint, body)
    for index, chunk in enumerate(exchange.chunks):
        if chunk.get("usage") is not None:
            raise Failed(f"nobody asked, but chunk {index} has a usage", exchange)


async def pieces(session: Session, endpoint: str, *, body: Mapping[str, Any], fewest: int) -> None:
    """An answer of many tokens comes in several chunks, not in one at its end. `fewest` chunks show it; fewer, but more
    than one, show nothing."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    if (made := counted(exchange, "completion_tokens")) < 2 * fewest:
        raise NotExercised(f"the answer has {made} tokens, too few to be cut in pieces")
    if any(output.calls for output in outputs(exchange)):
        raise NotExercised("the answer is a call")
    deltas = [choice.get("delta") or {} for chunk in exchange.chunks for choice in chunk.get("choices") or ()]
    with_text = [
        delta for delta in deltas if any(delta.get(name) for name in ("content", "reasoning_content", "reasoning"))
    ]
    if len(with_text) == 1:
        raise Failed(f"{made} tokens come in one piece", exchange)
    if 0 < len(with_text) < fewest:
        raise NotExercised(f"{made} tokens come in {len(with_text)} pieces, too few to say how they are cut")


async def whole_characters(session: Session, endpoint: str, *, text: str) -> None:
    """No delta has a part of a character. The answer is forced to be one text."""
    schema = {
        "type": "object",
        "properties": {"text": {"enum": [text]}},
        "required": ["text"],
        "additionalProperties": False,
    }
    format = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    body = {
        "messages": [{"role": "user", "content": "Answer with JSON."}],
        "response_format": format,
        "max_tokens": 100,
    }
    exchange = await _streamed(session, endpoint, body)
    for index, chunk in enumerate(exchange.chunks):
        for choice in chunk.get("choices") or ():
            delta = (choice.get("delta") or {}).get("content") or ""
            if "\ufffd" in delta or any("\ud800" <= character <= "\udfff" for character in delta):
                raise Failed(f"chunk {index} has a part of a character: {delta!r}", exchange)
    output = next(outputs(exchange))
    if output.reason != "stop":
        raise NotExercised(f"the answer ended by {output.reason!r}")
    if text not in output.text and "\\u" not in output.text:
        raise NotExercised(f"the answer had to say {text!r}, but is {output.text!r}")


async def unstreamed(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Without stream, the answer is one JSON object."""
    exchange = await session.answered(endpoint, body)
    if exchange.is_stream or exchange.media != "application/json":
        raise Failed(f"the media type is {exchange.media!r}, not application/json", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Returns the exchange of a streamed answer. Raises Unreadable if it isn't a stream."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    return exchange


# Fields of one answer alone, or of its form.
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

# Fields that some systems have in unary answers alone, or that a fold of chunks leaves out.
UNARY = ("bytes", "metadata", "matched_stop", "reasoning_tokens")

# Rounds in which the streamed answer and the whole one stay as they are, and differ, before that is wrong.
ROUNDS = 3


async def stream_parity(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A stream adds up to the answer without streaming."""
    options = {"stream_options": {"include_usage": True}} if endpoint != "responses" else {}
    # What another system has beyond its document, it may have in one form alone.
    known = None if session.dialect.name == WHOLE else session.dialect.members
    unary: list[Exchange] = []
    streamed: list[Exchange] = []
    for _ in range(ROUNDS):
        unary.append(await session.answered(endpoint, body))
        streamed.append(await session.answered(endpoint, {**body, "stream": True, **options}))
        # An answer may differ because none of its prompt was cached yet, or by rounding.
        if any(_difference(one, other, known) is None for one in unary for other in streamed):
            return
    if any(_difference(pair[0], other, known) for pair in (unary, streamed) for other in pair):
        raise NotExercised("the server answers the same request differently each time, so that nothing can be compared")
    raise Failed(str(_difference(unary[0], streamed[0], known)), unary[0], streamed[0])


def _difference(one: Exchange, other: Exchange, known: Collection[str] | None) -> str | None:
    """Returns the difference between the answers. `known` are the documented fields; None stands for our own document,
    whose servers have no others and may not differ at all. Raises Unreadable."""
    ours = known is None
    left_out = {"usage"} if not ours and not _counted_once(one, other) else set()
    whole, added = ({k: v for k, v in exchange.answer.items() if k not in left_out} for exchange in (one, other))
    return _where(_comparable(whole, ours), _comparable(added, ours), known)


def _counted_once(unary: Exchange, stream: Exchange) -> bool:
    """Returns whether both have usage, and the stream has one usage, not one for each choice."""
    has_usage = all(exchange.answer.get("usage") for exchange in (unary, stream))
    return has_usage and sum(bool(chunk.get("usage")) for chunk in stream.chunks) <= 1


def _comparable(value: Any, ours: bool) -> Any:
    """Returns the answer without ids and times, and without what is null, empty or absent: the shapes are checked
    elsewhere. Some systems have the bytes of tokens, the numbers of calls, and kinds of tokens of which there are none,
    in whole answers alone."""
    if isinstance(value, Mapping):
        kept = {key: _comparable(item, ours) for key, item in value.items() if key not in OWN}
        filled = {key: item for key, item in kept.items() if item not in (None, "", [], {})}
        if ours:
            return filled
        left_out = (*UNARY, "index") if "function" in filled else UNARY
        return {key: item for key, item in filled.items() if key not in left_out and not _none_of(key, item)}
    if isinstance(value, list):
        return [_comparable(item, ours) for item in value]
    return value


def _none_of(name: str, value: Any) -> bool:
    return name.endswith("_details") and isinstance(value, Mapping) and not any(value.values())


def _where(one: Any, other: Any, known: Collection[str] | None, path: str = "") -> str | None:
    """Returns the first difference, as a sentence."""
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
    shown = [json.dumps(item, ensure_ascii=False)[:120] for item in (one, other)]
    return f"{path.removesuffix('.')} is {shown[0]} unary, but the stream makes it {shown[1]}"
