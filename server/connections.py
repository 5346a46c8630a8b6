"""Connections: their maximum number, and uvicorn's HTTP parsing with limits on incomplete requests.

uvicorn reads request heads of any length and waits for their end without a timeout; both cost memory and connections
before a key is checked (decision 058).
"""

import asyncio
import logging
import resource
import socket
from typing import Any, Protocol, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.operations.errors import raw_answer
from specvino.server.request_target import require_one_target

logger = logging.getLogger("specvino.server")

MOST = 2048

# Other open files: the model, the database, pipes to child processes, downloaded images.
_OTHER_FILES = 256


class Connection(Protocol):
    """The interface of a connection."""

    def tick(self) -> None:
        """Called once a second."""
        ...

    def abort(self) -> None: ...


class Connections:
    """The server's open connections, at most `most`.

    When the limit is reached, a new connection replaces the one that has been idle the longest, so that a client that
    opens silent connections only closes its own. If none is idle, the new one is refused.

    Seconds are counted by the event loop: however long the server itself is blocked, only one second has passed. So no
    client times out because the server is busy.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._all: set[Connection] = set()
        # Idle connections, the longest idle first.
        self._waiting: dict[Connection, None] = {}
        self._pushed_out = self._refused = 0

    def add(self, connection: Connection) -> bool:
        """Adds a new connection, which is idle; returns False if it has to be refused."""
        full = len(self._all) - len(self._waiting) >= self.most
        self._refused += full
        while len(self._all) >= self.most and self._waiting:
            oldest = next(iter(self._waiting))
            self.discard(oldest)
            oldest.abort()
            self._pushed_out += 1
        self._all.add(connection)
        self._waiting[connection] = None
        return not full

    def discard(self, connection: Connection) -> None:
        """Removes a closed connection."""
        self._all.discard(connection)
        self._waiting.pop(connection, None)

    def asks(self, connection: Connection) -> None:
        """Marks a connection as busy with a request: it isn't replaced until `waits`."""
        self._waiting.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """Marks a connection as idle again."""
        if connection in self._all:
            self._waiting[connection] = None

    def tick(self) -> None:
        """Ticks all connections, and logs those that were closed or refused in this second."""
        for connection in list(self._all):
            connection.tick()
        if self._pushed_out or self._refused:
            logger.warning(
                "--max-connections (%d) was reached: %d idle connections were closed, %d new ones refused",
                self.most,
                self._pushed_out,
                self._refused,
            )
            self._pushed_out = self._refused = 0

    async def watch(self) -> None:
        """Ticks every second until it is cancelled."""
        while True:
            await asyncio.sleep(1)
            self.tick()


def possible(most: int) -> int:
    """Raises this process's limit of open files for `most` connections; returns the number of connections that the
    limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = most + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < needed:
            most = max(soft - _OTHER_FILES, 1)
            logger.warning("the open-file limit of %d reduces --max-connections to %d", soft, most)
    return most


# The maximum size of a request's head: its URL, header names and values. The limit in bytes is uvicorn's with h11, the
# number of fields is vLLM's.
HEAD_BYTES = 65_536
HEAD_FIELDS = 256

# Pipelined requests: those sent before an earlier one was answered.
PIPELINED = 16

# Seconds for a head, and for a body in addition to its bytes at the slowest rate (bytes/s).
HEAD_SECONDS = 20
BODY_SECONDS = 30
BODY_RATE = 10_000

# Seconds for the rest of an unread body, or for a client to read its error response.
LINGER_SECONDS = 10

# What a client that has sent all gets while it waits: if it has in fact closed the connection, it resets it then.
_PROBE = b"HTTP/1.1 102 Processing\r\n\r\n"
_PROBE_SECONDS = 0.05
_TCP_INFO = getattr(socket, "TCP_INFO", None)  # Linux only
_RESET = 7  # TCP_CLOSE in Linux's netinet/tcp.h

# Seconds in which a client may read no byte of its response.
UNREAD_SECONDS = 60


class Unread:
    """Counts the seconds in which a client has read nothing of its pending data."""

    def __init__(self) -> None:
        self._bytes = self._seconds = 0

    def is_too_long(self, transport: asyncio.WriteTransport) -> bool:
        """Called once a second; returns whether there have been more than UNREAD_SECONDS."""
        pending = transport.get_write_buffer_size()
        self._seconds = self._seconds + 1 if pending and pending == self._bytes else 0
        self._bytes = pending
        return self._seconds > UNREAD_SECONDS


class BoundedProtocol(HttpToolsProtocol):
    """A connection. Requests that are too large or too slow get the API's error response, if that is still possible."""

    def __init__(self, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._refused = False
        # The request being answered; `cycle` is the last one received, which may be later.
        self._running: Any = None
        # What is being read: a head that has begun, or a body with its bytes so far.
        self._in_head = self._in_body = False
        self._head = self._body = 0
        # Bytes since the parser's last event.
        self._fruitless = 0
        self._progress = False
        self._ticks = 0
        self._again = b""
        self._unread = Unread()
        self._half_closed = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if not self._connections.add(self):
            message = f"All {self._connections.most} connections of the server are in use. Retry later."
            self._refuse(ApiError(ErrorCode.TOO_MANY_CONNECTIONS, message, retry_after=1))

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._leave()
        super().connection_lost(exc)

    # asyncio takes the result, uvicorn always closes.
    def eof_received(self) -> bool:  # type: ignore[override]
        """Keeps a connection on which the client sends nothing more until its requests are answered (RFC 9112, section
        9.6; decision 078), unless the client has closed it: then too the client's end is all that is received. In the
        middle of a stream there is no probe, and a client that ends has left.
        """
        # With TLS, a connection can't stay half open.
        if (
            self.transport.get_extra_info("sslcontext")
            or _TCP_INFO is None
            or self._refused
            or self._in_head
            or self._in_body
            or not self._answers
        ):
            return False
        running = self._running
        if running.response_started and not running.response_complete:
            return False
        self._half_closed = True
        if not running.response_started and running.scope["http_version"] == "1.1":
            self.transport.write(_PROBE)
        self.loop.call_later(_PROBE_SECONDS, self._abort_if_reset)
        return True

    def _abort_if_reset(self) -> None:
        connection = self.transport.get_extra_info("socket")
        if self.transport.is_closing() or connection is None or _TCP_INFO is None:
            return
        if connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, 1)[0] == _RESET:
            self.abort()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unset_keepalive_if_required()
        self._progress = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self._should_upgrade():
                self._become_socket(data[upgrade.args[0] :])
                return
            self.parser = httptools.HttpRequestParser(self)
            self.data_received(self._again + data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            # An exception of our callbacks is the context of the parser's error.
            cause = error.__context__
            broken = ApiError(ErrorCode.INVALID_HTTP, "The request is not valid HTTP/1.1.")
            self._refuse(cause if isinstance(cause, ApiError) else broken)
            return
        self._fruitless = 0 if self._progress else self._fruitless + len(data)
        if self._fruitless > 2 * HEAD_BYTES:  # an endless field, or the framing of a body
            self._refuse(_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._progress = self._in_head = True
        self._head = self._ticks = 0

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_body:
            return  # a trailer, which no operation uses
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)
        if len(self.headers) > HEAD_FIELDS:
            raise _too_large()
        if name.lower() == b"transfer-encoding" and value.strip().lower() != b"chunked":
            coding = value.decode("latin-1")
            raise ApiError(ErrorCode.INVALID_HTTP, f"The transfer coding {coding!r} isn't supported; only chunked is.")

    def on_headers_complete(self) -> None:
        require_one_target(self.url, self.headers)
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            if self._should_upgrade():
                super().on_headers_complete()
                return
            # Java's client offers an upgrade to HTTP/2 with its first request, and the parser then treats the body as
            # another protocol. Other upgrades aren't supported, so the request is parsed again without the offer.
            fields = [b"%b: %b\r\n" % field for field in self.headers if field[0] != b"upgrade"]
            line = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
            self._again = b"%b\r\n%b\r\n" % (line, b"".join(fields))
            return
        if len(self.pipeline) >= PIPELINED:
            raise ApiError(ErrorCode.INVALID_HTTP, f"More than {PIPELINED} requests were pipelined.")
        self._connections.asks(self)
        super().on_headers_complete()
        self._progress = self._in_body = True
        self._in_head = False
        self._body = self._ticks = 0

    def on_body(self, body: bytes) -> None:
        self._progress = True
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._in_body:
            return  # it will be parsed again
        self._progress = True
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._ticks = 0
        if not self._answers:
            self._connections.waits(self)
            if self._half_closed:
                self.transport.close()

    @property
    def _answers(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _become_socket(self, first: bytes) -> None:
        """Hands the connection over to uvicorn's protocol of WebSockets, with the bytes that came with the head."""
        if self._answers:  # the answer to a pipelined request would get between
            self._refuse(ApiError(ErrorCode.INVALID_HTTP, "An upgrade to a WebSocket can't be pipelined."))
            return
        self._connections.discard(self)
        self.handle_websocket_upgrade()
        if first:
            cast("asyncio.Protocol", self.transport.get_protocol()).data_received(first)

    def _count(self, more: int) -> None:
        self._head += more
        if self._head > HEAD_BYTES:
            raise _too_large()

    def tick(self) -> None:
        """Called once a second. See `Connections`."""
        if self._half_closed:
            self._abort_if_reset()
        if self._unread.is_too_long(self.transport):
            self.abort()
        elif self._refused:
            self._ticks += 1
            if self._ticks > LINGER_SECONDS:
                self.abort()
        elif self._in_body:
            self._tick_body()
        elif not self._answers and (self._in_head or self.cycle is None):
            self._ticks += 1
            if self._ticks > HEAD_SECONDS:
                self._late("request's head", HEAD_SECONDS)

    def _tick_body(self) -> None:
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            return  # the client waits for the server
        self._ticks += 1
        if self.cycle.response_complete:
            if self._ticks > LINGER_SECONDS:
                self.abort()
        elif self._ticks > BODY_SECONDS + self._body / BODY_RATE:
            self._late("request's body", self._ticks)

    def _late(self, part: str, seconds: int) -> None:
        if self._in_head or self._in_body:
            self._refuse(ApiError(ErrorCode.REQUEST_TIMEOUT, f"The {part} was not complete after {seconds} seconds."))
        else:
            self.transport.close()  # browsers open connections in advance and expect no response

    def abort(self) -> None:
        """Closes the connection at once; pending data is lost."""
        self._leave()
        self.transport.abort()

    def _leave(self) -> None:
        """Signals the app that the client is gone, and stops its writes."""
        for cycle in (self._running, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _refuse(self, error: ApiError) -> None:
        """Answers in place of the app, and keeps reading until the client has received the response: closing the socket
        with unread data would reset the connection before that."""
        logger.info("connection from %s:%d refused: %s", *(self.client or ("-", 0)), error.message)
        self._refused = True
        self._ticks = 0
        self._connections.waits(self)
        if self._answers and (self._running.response_started or self.pipeline):
            self.abort()  # an error can't be sent in the middle of another response
            return
        self._leave()
        self.transport.write(raw_answer(error, self.server_state.default_headers))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:  # with TLS
            self.transport.close()


def _too_large() -> ApiError:
    message = f"The request's head exceeds the limit of {HEAD_BYTES} bytes or {HEAD_FIELDS} header fields."
    return ApiError(ErrorCode.HEADERS_TOO_LARGE, message)
