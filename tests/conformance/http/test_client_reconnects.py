"""Connections that a server closes when it likes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.stream_server import stream_server

from specvino.conformance.http.client import Client, Target
from specvino.conformance.http.exchange import Request

REQUEST = Request("models", "GET", "/models", {}, None)
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@asynccontextmanager
async def closing(answers: list[int]) -> AsyncIterator[str]:
    """A server whose connections close after so many answers each, with the next request, so that no client can know;
    the last number is that of all later ones."""
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(left.pop(0) if len(left) > 1 else left[0]):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(ANSWER)
            await writer.drain()
        await reader.read(10_000)

    async with stream_server(serve) as port:
        yield f"http://127.0.0.1:{port}/v1"


@pytest.mark.parametrize(("answers", "statuses"), [([1], [200, 200, 200]), ([1, 0], [200, None])])
def test_a_connection_that_was_closed_is_opened_again_once(answers: list[int], statuses: list[int | None]) -> None:
    async def sent() -> list[int | None]:
        async with closing(answers) as url, Client(Target(url)) as client:
            return [(await client.send(REQUEST)).status for _ in statuses]

    assert asyncio.run(sent()) == statuses
