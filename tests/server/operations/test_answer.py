"""Answers that are a status alone, answers by model, and lines."""

import asyncio
import json
from typing import Any

import pytest

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.operations.answer import ByModel, ByStatus
from specvino.server.operations.errors import line


@pytest.mark.parametrize(("fails", "status"), [(False, 200), (True, 404)])
def test_the_body_is_left_out(fails: bool, status: int) -> None:
    sent: list[Any] = []

    async def operation(scope: Any, receive: Any, send: Any) -> None:
        if fails:
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, "The engine is loading.")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any: ...

    asyncio.run(ByStatus(operation, 404)({"type": "http"}, receive, send))
    assert sent == [
        {"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]},
        {"type": "http.response.body"},
    ]


async def receive() -> Any: ...


async def send(message: Any) -> None: ...


def test_each_model_has_its_own() -> None:
    sent: list[Any] = []

    async def listing(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b'{"data": [{"id": "a"}, {"id": "b"}]}'})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(ByModel(listing, {"state": "AVAILABLE"})({"type": "http"}, receive, send))
    start, body = sent
    assert json.loads(body["body"]) == {"a": {"state": "AVAILABLE"}, "b": {"state": "AVAILABLE"}}
    assert (start["status"], dict(start["headers"])[b"content-length"]) == (200, str(len(body["body"])).encode())


def test_an_error_stays() -> None:
    async def listing(scope: Any, receive: Any, send: Any) -> None:
        raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, "The engine is loading.")

    with pytest.raises(ApiError):
        asyncio.run(ByModel(listing, {})({"type": "http"}, receive, send))


@pytest.mark.parametrize("end", [chr(code) for code in range(0x110000) if len(f"a{chr(code)}b".splitlines()) > 1])
def test_no_client_splits_a_line(end: str) -> None:
    """However it reads lines: Python's clients split at more characters than a line feed."""
    event = {"text": f"a{end}b é"}
    sent = line(event)
    assert json.loads(sent) == event
    assert len(sent.decode().splitlines()) == 1
