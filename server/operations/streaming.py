"""Streams: the events of a handler as server-sent events, or in lines (the framings of `x-stream` in the document)."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from starlette.types import Send

from specvino.document.operations import FRAMINGS
from specvino.generated.handlers import Operation
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System
from specvino.server.dialect.shapes import ABSENT
from specvino.server.operations.errors import event_of, internal_error, line

_encode = msgspec.json.Encoder().encode


async def send_events(
    send: Send,
    events: AsyncGenerator[Any],
    headers: list[tuple[bytes, bytes]],
    operation: Operation,
    request_id: str,
    system: System | None = None,
) -> None:
    """Sends events as they come. An error becomes the last event. The stream always ends as the document (or that of
    `system`) defines."""
    if system:
        operation = system.streaming(operation)
    framing = operation.framing or "data"
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", FRAMINGS[framing].encode()),
                (b"cache-control", b"no-cache"),
                (b"x-accel-buffering", b"no"),  # proxies must not buffer events
                *headers,
            ],
        }
    )
    fit = system.event(operation.id) if system else None
    frame = _FRAMES[framing]
    sent = 0
    async with aclosing(events):
        try:
            async for ours in events:
                event = fit(ours) if fit else ours
                if event is ABSENT:
                    continue
                await send({"type": "http.response.body", "body": frame(event), "more_body": True})
                sent += 1
        except Exception as error:
            shown = error if isinstance(error, ApiError) else internal_error(request_id)
            if system and not system.tells_errors_in_streams(operation.id):
                await send({"type": "http.response.body", "body": b""})
                return
            body = event_of(shown, operation, request_id, sent)
            await send({"type": "http.response.body", "body": body, "more_body": True})
    last = f"data: {operation.terminator}\n\n".encode() if operation.terminator is not None else b""
    await send({"type": "http.response.body", "body": last})


def _frame(event: Any) -> bytes:
    return b"data: %b\n\n" % _encode(event)


def _named_frame(event: Any) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (event["type"].encode(), _encode(event))


_FRAMES = {"data": _frame, "event": _named_frame, "lines": line}
