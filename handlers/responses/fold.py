"""Events -> the unary answer."""

from collections.abc import AsyncIterator

from specvino.generated import wire


async def fold(events: AsyncIterator[wire.ResponseStreamEvent]) -> wire.ResponseObject:
    """Returns the response in the last event of one whole stream."""
    async for event in events:
        if event["type"] in ("response.completed", "response.incomplete"):
            return event["response"]
    raise RuntimeError("the stream ended before the response did")
