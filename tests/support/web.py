"""A web server that answers every request with the bytes that a test gives it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from support.stream_server import stream_server

OK = b"HTTP/1.1 200 OK\r\n"


@dataclass
class Web:
    """`requests` holds what was asked; `sent` counts the bytes of endless answers, which end with the connection."""

    port: int = 0
    requests: list[str] = field(default_factory=list)
    sent: int = 0


@asynccontextmanager
async def web(answer: bytes, *, endless: bytes = b"", silent: bool = False) -> AsyncIterator[Web]:
    """`endless` is sent again and again after the answer; with `silent` the connection then stays open."""
    state = Web()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        state.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(answer)
        while endless:
            writer.write(endless)
            await writer.drain()
            state.sent += len(endless)
        if silent:
            await reader.read()

    async with stream_server(serve) as port:
        state.port = port
        yield state


def whole(body: bytes, *headers: bytes, status: bytes = OK) -> bytes:
    lines = (b"Content-Length: %d" % len(body), *headers)
    return status + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body
