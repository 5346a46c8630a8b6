"""Responses from a handler's result: a JSON body or, at other systems' extra paths, a status or models in a form of
theirs.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.dialect.system import ExtraPath
from specvino.server.operations.errors import headers
from specvino.server.operations.exchange import exchange_of
from specvino.server.validation.bodies import Bodies, ClientGone
from specvino.server.validation.parsing import parse_json

Headers = list[tuple[bytes, bytes]]

_encode = msgspec.json.Encoder().encode


async def send_json(send: Send, value: Any, headers: Headers, status: int = 200) -> None:
    """Sends one JSON body."""
    body = _encode(value)
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                *headers,
            ],
        }
    )
    await send({"type": "http.response.body", "body": body})


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
        models = await _listed(self._listing, scope, receive)
        await send_json(send, {model["id"]: self._value for model in models}, [])


class Described:
    """Models as the `answer` of an extra path describes them: one, or all. `listing` is that of our own document, and
    `version` the system's. The body of a POST names the model. Errors are objects with a text."""

    def __init__(self, listing: ASGIApp, extra: ExtraPath, bodies: Bodies, version: str) -> None:
        self._listing = listing
        self._template = extra.answer
        self._listed_as = extra.listed_as
        self._tag = extra.tag
        self._bodies = bodies
        self._version = version

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(scope, receive)
        except ClientGone:
            return
        except ApiError as error:
            exchange_of(scope).error = error.code.value
            fields = [(name.lower().encode(), value.encode()) for name, value in headers(error).items()]
            await send_json(send, {"error": error.message}, fields, error.kind.status)
            return
        await send_json(send, answer, [])

    async def _answer(self, scope: Scope, receive: Receive) -> dict[str, Any]:
        name = await self._named(scope, receive) if scope["method"] == "POST" else None
        models = await _listed(self._listing, scope, receive)
        if name is not None:
            models = [model for model in models if model["id"] == name.removesuffix(self._tag)]
        answers = [_filled(self._template, self._facts(model)) for model in models]
        if self._listed_as:
            return {self._listed_as: answers}
        if not answers:
            raise ApiError(ErrorCode.MODEL_NOT_FOUND, f"model {(name or '')[:200]!r} not found")
        answer: dict[str, Any] = answers[0]
        return answer

    async def _named(self, scope: Scope, receive: Receive) -> str:
        """Returns the name of the model that a body is about, of any content type. Raises ApiError and ClientGone."""
        raw = await self._bodies.read(scope, receive)
        async with self._bodies.turn(len(raw)) as step:
            body = await step(parse_json, raw)
        name = (body.get("model") or body.get("name")) if isinstance(body, dict) else None
        if not isinstance(name, str):
            raise ApiError(ErrorCode.MISSING_REQUIRED_PARAMETER, "model is required")
        return name

    def _facts(self, model: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the values that a template may name."""
        inner = {f"meta.{name}": value for name, value in model.get("meta", {}).items()}
        created = datetime.fromtimestamp(model["created"], UTC).isoformat()
        tagged = model["id"] if ":" in model["id"] else model["id"] + self._tag
        return {**model, **inner, "tagged_id": tagged, "created_at": created, "system_version": self._version}


async def _listed(listing: ASGIApp, scope: Scope, receive: Receive) -> list[dict[str, Any]]:
    """Returns the models that our listing sends. Raises ApiError."""
    sent = bytearray()

    async def collect(message: Message) -> None:
        sent.extend(message.get("body", b""))

    await listing(scope, receive, collect)
    models: list[dict[str, Any]] = json.loads(sent)["data"]
    return models


def _filled(template: Any, facts: Mapping[str, Any]) -> Any:
    """Returns a template with the facts in place of their names; fields without a value are left out."""
    match template:
        case dict():
            filled = {name: _filled(value, facts) for name, value in template.items()}
            return {name: value for name, value in filled.items() if value is not None}
        case list():
            return [_filled(value, facts) for value in template]
        case str() if template.startswith("$"):
            return facts.get(template[1:])
        case _:
            return template
