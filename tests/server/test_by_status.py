"""An answer that is a status alone."""

import asyncio
from typing import Any

import pytest

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.by_status import ByStatus


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
