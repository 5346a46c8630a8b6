"""uvicorn's protocol of WebSockets as one of the server's connections (decision 077)."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from specvino.server.connections import Connections, Unread
from specvino.server.sockets import BUSY


class SocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket. While no request is being answered it is idle, like any other connection."""

    def __init__(self, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._unread = Unread()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connections.add(self)
        self._connections.asks(self)  # until the app has accepted it

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        super().connection_lost(exc)

    async def run_asgi(self) -> None:
        self.scope["state"][BUSY] = self._mark
        await super().run_asgi()

    async def send(self, message: Any) -> None:
        await super().send(message)
        # uvicorn 0.54 takes a refusal by the app for an app that didn't answer, and logs an error (run_asgi). To be
        # deleted once tests/server/test_sockets.py finds nothing in the log without it.
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True

    def _mark(self, busy: bool) -> None:
        (self._connections.asks if busy else self._connections.waits)(self)

    def tick(self) -> None:
        """Called once a second. See `Connections`."""
        if self._unread.is_too_long(self.transport):
            self.abort()

    def abort(self) -> None:
        """Closes the connection at once; pending data is lost."""
        self.transport.abort()
