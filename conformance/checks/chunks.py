"""The chunks of a stream: what they hold."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.verdict import Failed, NotExercised

NO_USAGE = "include_usage was asked for, but none of the {} chunks has usage"


async def usage_last(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Usage that is asked for comes in the last chunk, which has no choices, and in no other."""
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
    """Where usage is asked for, each chunk has the member, null before the end."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    if not any(chunk.get("usage") for chunk in exchange.chunks):
        raise NotExercised(NO_USAGE.format(len(exchange.chunks)))
    without = [index for index, chunk in enumerate(exchange.chunks) if "usage" not in chunk]
    if without:
        raise Failed(f"{len(without)} of {len(exchange.chunks)} chunks have no usage, not even null", exchange)


async def usage_not_asked(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A stream has no usage where none was asked for: clients that read choices[0] break on a chunk without any."""
    exchange = await _streamed(session, endpoint, body)
    for index, chunk in enumerate(exchange.chunks):
        if chunk.get("usage") is not None:
            raise Failed(f"nobody asked, but chunk {index} has a usage", exchange)


async def pieces(session: Session, endpoint: str, *, body: Mapping[str, Any], fewest: int) -> None:
    """An answer of many tokens comes in several chunks, not in one at its end. `fewest` pieces show it; fewer, but more
    than one, tell nothing."""
    exchange = await _streamed(session, endpoint, {**body, "stream_options": {"include_usage": True}})
    if (made := counted(exchange, "completion_tokens")) < 2 * fewest:
        raise NotExercised(f"the answer has {made} tokens, too few to be cut in pieces")
    if any(output.calls for output in outputs(exchange)):
        raise NotExercised("the answer is a call")
    deltas = [choice.get("delta") or {} for chunk in exchange.chunks for choice in chunk.get("choices") or ()]
    told = [one for one in deltas if any(one.get(name) for name in ("content", "reasoning_content", "reasoning"))]
    if len(told) == 1:
        raise Failed(f"{made} tokens come in one piece", exchange)
    if 0 < len(told) < fewest:
        raise NotExercised(f"{made} tokens come in {len(told)} pieces, too few to say how they are cut")


async def whole_characters(session: Session, endpoint: str, *, text: str) -> None:
    """No delta has half a character. The answer is forced to be one text."""
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
    """An answer that nobody wants streamed is one JSON object."""
    exchange = await session.answered(endpoint, body)
    if exchange.is_stream or exchange.media != "application/json":
        raise Failed(f"the media type is {exchange.media!r}, not application/json", exchange)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Returns the exchange of a streamed answer. Raises Unreadable where no stream comes."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    exchange.require_stream()
    return exchange
