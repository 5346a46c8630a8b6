"""A web server that answers every request with the bytes that a test gives it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

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
    connections: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        state.requests.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(answer)
        try:
            while endless:
                writer.write(endless)
                await writer.drain()
                state.sent += len(endless)
            if silent:
                await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1")
    state.port = server.sockets[0].getsockname()[1]
    async with server:
        yield state
    # Else the loop may end first, and a socket that nobody closed is blamed on a later test.
    if connections:
        await asyncio.wait(connections)


def whole(body: bytes, *headers: bytes, status: bytes = OK) -> bytes:
    lines = (b"Content-Length: %d" % len(body), *headers)
    return status + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body
