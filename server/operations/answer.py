"""Responses from a handler's result: a JSON body, server-sent events, or (at other systems' extra paths) a status."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.generated.handlers import Operation
from specvino.handlers.errors import ApiError
from specvino.server.dialect import System
from specvino.server.dialect.shapes import ABSENT
from specvino.server.operations.errors import event_of, internal_error

Headers = list[tuple[bytes, bytes]]

_encode = msgspec.json.Encoder().encode


async def send_json(send: Send, value: Any, headers: Headers) -> None:
    """Sends one JSON body."""
    body = _encode(value)
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


async def send_events(
    send: Send,
    events: AsyncGenerator[Any],
    headers: Headers,
    operation: Operation,
    request_id: str,
    system: System | None = None,
) -> None:
    """Sends events as they come. An error becomes the last event. The stream always ends as the document (or that of
    `system`) defines."""
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"text/event-stream"),
                (b"cache-control", b"no-cache"),
                (b"x-accel-buffering", b"no"),  # proxies must not buffer events
                *headers,
            ],
        }
    )
    if system:
        operation = system.streaming(operation)
    fit = system.event(operation.id) if system else None
    frame = _named_frame if operation.framing == "event" else _frame
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


class ByStatus:
    """An operation whose responses have no body; an error becomes the status `denial`."""

    def __init__(self, operation: ASGIApp, denial: int) -> None:
        self._operation = operation
        self._denial = denial

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_bare(message: Message) -> None:
            if message["type"] == "http.response.start":
                await _send_status(send, message["status"])

        try:
            await self._operation(scope, receive, send_bare)
        except ApiError:
            await _send_status(send, self._denial)


async def _send_status(send: Send, status: int) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


class ByModel:
    """The list of models as an object with the same `value` for each name. Errors are passed through."""

    def __init__(self, listing: ASGIApp, value: Mapping[str, Any]) -> None:
        self._listing = listing
        self._value = value

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_by_model(message: Message) -> None:
            if message["type"] == "http.response.body":
                listed = json.loads(message["body"])["data"]
                await send_json(send, {model["id"]: self._value for model in listed}, [])

        await self._listing(scope, receive, send_by_model)
