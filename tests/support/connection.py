"""A connection of the server without a socket: bytes in, and what is sent and closed."""

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from specvino.server.connections import BoundedProtocol, Connections


class Transport(asyncio.Transport):
    """Holds what is written, and takes as much of it as it shall."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.unread = 0
        self.ended = self.closed = self.aborted = self.paused = False

    def write(self, data: Any) -> None:
        self.sent += data

    def get_write_buffer_size(self) -> int:
        return self.unread

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.closed or self.aborted

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


class Exchange:
    """A connection to an app that answers when the body is there, or when it may."""

    def __init__(self, *, reads: bool = True, held: Connections | None = None) -> None:
        self.reads = reads
        self.may_end = asyncio.Event()
        self.asked = 0
        self.bodies: list[bytes] = []
        self.ends: list[str] = []
        config = uvicorn.Config(self.app, interface="asgi3", log_level="critical", ws="none")
        config.load()
        self.connections = held or Connections()
        options: dict[str, Any] = {"config": config, "server_state": ServerState(), "app_state": {}}
        self.protocol = BoundedProtocol(self.connections, **options)
        self.transport = Transport()
        self.protocol.connection_made(self.transport)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        body, more = b"", self.reads
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.ends.append("gone")
                return
            body, more = body + message["body"], message["more_body"]
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        await self.may_end.wait()
        await send({"type": "http.response.body", "body": b"two"})

    async def send(self, *pieces: bytes) -> bytes:
        """What the server has sent when it has dealt with the pieces."""
        for piece in pieces:
            self.protocol.data_received(piece)
        return await self.settled()

    async def settled(self) -> bytes:
        for _ in range(20):
            await asyncio.sleep(0)
        return self.transport.sent

    async def seconds(self, number: int) -> bytes:
        for _ in range(number):
            self.connections.tick()
        return await self.settled()
