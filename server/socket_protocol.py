"""uvicorn's protocol of WebSockets as one of the server's connections (decision 077), with limits on messages that
aren't complete.

uvicorn 0.54 and websockets 17.4 bound the bytes of a message, but neither the number of its fragments, nor the time in
which it comes, nor the answers to pings that a client doesn't read.
"""

import logging
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.connections import BODY_RATE, BODY_SECONDS, Connections, Unread
from specvino.server.operations.errors import raw_answer
from specvino.server.sockets import BUSY

logger = logging.getLogger("specvino.server")

# The most fragments of a message: an object for each is many times as large as a fragment of a byte.
FRAGMENTS = 4096

_POLICY, _INVALID, _TOO_BIG, _TRY_AGAIN = 1008, 1007, 1009, 1013


class Incomplete:
    """The incomplete messages of all WebSockets: `most` bytes together. Beyond that, the one that has taken the longest
    is dropped: a message that is sent at full speed doesn't take long."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[SocketProtocol, int] = {}  # the oldest first
        self._total = 0

    def hold(self, socket: "SocketProtocol", size: int) -> None:
        """Notes that a WebSocket holds so many bytes."""
        self._total += size - self._held.get(socket, 0)
        if size:
            self._held[socket] = size
        else:
            self._held.pop(socket, None)
        while self._total > self._most:
            oldest = next(iter(self._held))
            self._total -= self._held.pop(oldest)
            oldest.fail(_TRY_AGAIN, "too many incomplete messages")


class SocketProtocol(WebSocketsSansIOProtocol):
    """A WebSocket. While no request is being answered it is idle, like any other connection."""

    def __init__(self, connections: Connections, incomplete: Incomplete, **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._incomplete = incomplete
        self._unread = Unread()
        self._size = 0  # of the fragments
        self._seconds = 0  # since the incomplete message began

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connections.add(self)
        self._connections.asks(self)  # until the app has accepted it

    def connection_lost(self, exc: Exception | None) -> None:
        self._incomplete.hold(self, 0)
        self._connections.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self._refuse_head(self.conn.handshake_exc)
        if self.close_sent:
            return
        size = self._pending()
        if not size:
            self._seconds = 0
        self._incomplete.hold(self, size)

    def _refuse_head(self, cause: Exception) -> None:
        """Answers a head that exceeds the limits of websockets, though not those of HTTP; any other is valid, as
        BoundedProtocol has read it before.

        websockets 17.4 has no event then, and uvicorn 0.54 waits forever. To be deleted once
        tests/server/test_sockets.py passes without it.
        """
        if self.close_sent:
            return
        error = ApiError(
            ErrorCode.HEADERS_TOO_LARGE, f"The head of the WebSocket has too long a line or too many fields: {cause}."
        )
        logger.info("WebSocket from %s:%d refused: %s", *(self.client or ("-", 0)), error.message)
        self.close_sent = True
        self.transport.write(raw_answer(error, self.default_headers))
        self.transport.close()

    def _pending(self) -> int:
        """Returns the bytes of the incomplete message."""
        return self._size + len(self.conn.reader.buffer)

    def handle_events(self) -> None:
        super().handle_events()
        if self.close_sent:
            self.frames = []
        self._size = sum(map(len, self.frames))
        if len(self.frames) > FRAGMENTS:
            self.fail(_TOO_BIG, f"more than {FRAGMENTS} fragments")

    def send_receive_event_to_app(self) -> None:
        # A message is complete; what follows in the same data is another one.
        self._seconds = 0
        self._incomplete.hold(self, 0)
        if self.curr_msg_data_type == "text":
            # uvicorn logs a traceback.
            self.frames = [b"".join(self.frames)]
            try:
                self.frames[0].decode()
            except UnicodeDecodeError:
                self.frames = []
                self.fail(_INVALID, "invalid UTF-8")
                return
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        super().handle_ping()
        if not self.writable.is_set():
            self.transport.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.read_paused and not self.transport.is_closing():
            self.transport.resume_reading()

    def fail(self, code: int, reason: str) -> None:
        """Closes the connection with a code of RFC 6455; what comes later is discarded."""
        if self.close_sent or self.transport.is_closing():
            return
        self.frames, self._size = [], 0
        self.stop_keepalive()
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def handle_parser_exception(self) -> None:
        if self.conn.close_sent:
            super().handle_parser_exception()
        else:  # what came with the head, before the app has accepted: there is no frame to close with yet
            self.close_sent = True
            self.abort()

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
        elif (size := self._pending()) and not self.read_paused and self.writable.is_set():
            self._seconds += 1
            if self._seconds > BODY_SECONDS + size / BODY_RATE:
                self.fail(_POLICY, "the message takes too long")

    def abort(self) -> None:
        """Closes the connection at once; pending data is lost."""
        self.transport.abort()
