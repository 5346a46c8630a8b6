"""One connection for several requests, as every client's pool has it."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.expect import expect
from specvino.conformance.cases.session import Session, about, paths, require_alive, require_answer
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised

# Bytes that no server has read by chance when it refuses them.
LARGE = 300_000


async def reused(session: Session, endpoint: str, *, body: Mapping[str, Any], refused: str | None = None) -> None:
    """After an answer, or after this refusal, the next request on the same connection is answered."""
    async with session.one_connection() as single:
        first = await single.send("chat", body)
        if refused is None:
            require_answer(first)
        elif first.ok:
            raise NotExercised("the request is answered, not refused")
        else:
            expect(first, {"refused": refused}, session.dialect, "chat")
        await _next(single, first)


async def reused_unread(session: Session, endpoint: str, *, path: str) -> None:
    """A long body that nobody wants to read is not taken for the next request."""
    async with session.one_connection() as single:
        first = await single.raw("POST", path, content=b'{"text": "' + b"G" * LARGE + b'"}')
        # Whether the path or the size is looked at first is the server's affair.
        expect(first, {"refused": ["unknown_route", "too_large"]}, session.dialect, "chat")
        await _next(single, first)


async def _next(single: Session, first: Exchange) -> None:
    with about(first):
        second = await single.raw("GET", paths()["models"], endpoint="models")
        require_alive(second)
    if first.connection and second.connection and first.connection != second.connection:
        raise Failed("the connection was closed after the answer, which didn't say so (Connection: close)", first)
