"""The server's connections: how many there may be, and HTTP as uvicorn reads it, with bounds on what comes before a
request is one.

uvicorn reads a head of any length, and waits for the rest of one as long as it takes; both cost memory and connections
before any key was seen (decision 058).
"""

import asyncio
import logging
import resource
from typing import Any, Protocol

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.operations.errors import raw_answer

logger = logging.getLogger("specvino.server")

MOST = 2048

# Open files of everything else: the model, the database, pipes to child processes, images that are fetched.
_OTHER_FILES = 256


class Connection(Protocol):
    """What the server asks of a connection."""

    def tick(self) -> None:
        """A second is over."""
        ...

    def abort(self) -> None: ...


class Connections:
    """Holds at most `most` connections.

    One too many takes the place of the one that has waited longest without asking anything, so that whoever fills the
    server with silent connections only pushes out their own. Where all are being answered it is refused.

    Seconds are counted by the loop: after a second in which the server itself stood still, one is over, not more. So no
    client is late because the server is busy.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._all: set[Connection] = set()
        # Those that ask nothing now, the longest waiting first.
        self._waiting: dict[Connection, None] = {}
        self._pushed_out = self._refused = 0

    def add(self, connection: Connection) -> bool:
        """Takes a new connection, which waits; returns False where it has to be refused."""
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
        """Forgets a connection that is closed."""
        self._all.discard(connection)
        self._waiting.pop(connection, None)

    def asks(self, connection: Connection) -> None:
        """Notes that a connection has asked something: nobody takes its place until `waits`."""
        self._waiting.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """Notes that a connection was answered, and asks nothing now."""
        if connection in self._all:
            self._waiting[connection] = None

    def tick(self) -> None:
        """Tells all connections that a second is over, and the log what was too much in it."""
        for connection in list(self._all):
            connection.tick()
        if self._pushed_out or self._refused:
            logger.warning(
                "more than %d connections (--max-connections): %d that asked nothing were closed, %d were refused",
                self.most,
                self._pushed_out,
                self._refused,
            )
            self._pushed_out = self._refused = 0

    async def watch(self) -> None:
        """Ticks until it is cancelled."""
        while True:
            await asyncio.sleep(1)
            self.tick()


def possible(most: int) -> int:
    """Raises this process's limit of open files, so that it suffices for `most` connections; returns how many it
    suffices for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < wanted:
            most = max(soft - _OTHER_FILES, 1)
            logger.warning("this process may open %d files, so there can be %d connections at a time", soft, most)
    return most


# Of a request's head: its URL with all names and values. As h11 in uvicorn has it; the number is vLLM's.
HEAD_BYTES = 65_536
HEAD_FIELDS = 256

# Requests that were sent before the answer to an earlier one.
PIPELINED = 16

# Seconds for a head, and for a body beside those that its bytes take at the slowest rate (bytes/s).
HEAD_SECONDS = 20
BODY_SECONDS = 30
BODY_RATE = 10_000

# Seconds for the rest of a body that nobody reads, or for a client to read why it was refused.
LINGER_SECONDS = 10

# Seconds in which a client takes no byte of what is sent to it.
UNREAD_SECONDS = 60


class BoundedProtocol(HttpToolsProtocol):
    """A connection. What is too large or too slow is answered with the API's envelope, where that is still possible."""

    def __init__(self, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._refused = False
        # What is being answered: `cycle` is the last request that came, maybe before that answer.
        self._running: Any = None
        # What is being read now: a head of which something came, or a body of so many bytes.
        self._in_head = self._in_body = False
        self._head = self._body = 0
        # Bytes that came since anything came of them.
        self._fruitless = 0
        self._progress = False
        self._ticks = 0
        self._again = b""
        self._unread = self._unread_ticks = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if not self._connections.add(self):
            message = f"This server takes {self._connections.most} connections at a time, and all are in use."
            self._refuse(ApiError(ErrorCode.TOO_MANY_CONNECTIONS, message, retry_after=1))

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unset_keepalive_if_required()
        self._progress = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.parser = httptools.HttpRequestParser(self)
            self.data_received(self._again + data[upgrade.args[0] :])
            return
        except httptools.HttpParserError as error:
            # What a callback of ours raised stands behind the parser's own error.
            cause = error.__context__
            broken = ApiError(ErrorCode.INVALID_HTTP, "What was sent is not HTTP/1.1.")
            self._refuse(cause if isinstance(cause, ApiError) else broken)
            return
        self._fruitless = 0 if self._progress else self._fruitless + len(data)
        if self._fruitless > 2 * HEAD_BYTES:  # a field without end, or what frames a body
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
            return  # a field behind the body, which no operation knows
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)
        if len(self.headers) > HEAD_FIELDS:
            raise _too_large()

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
            # Java's client offers HTTP/2 with each first request. The parser then takes the body for another protocol;
            # none is spoken here, so the request is read again without the offer.
            fields = [b"%b: %b\r\n" % field for field in self.headers if field[0] != b"upgrade"]
            line = b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())
            self._again = b"%b\r\n%b\r\n" % (line, b"".join(fields))
            return
        if len(self.pipeline) >= PIPELINED:
            raise ApiError(ErrorCode.INVALID_HTTP, f"More than {PIPELINED} requests were sent before an answer.")
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
            return  # it is read again
        self._progress = True
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._ticks = 0
        if not self._answers:
            self._connections.waits(self)

    @property
    def _answers(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _count(self, more: int) -> None:
        self._head += more
        if self._head > HEAD_BYTES:
            raise _too_large()

    def tick(self) -> None:
        """A second is over. See `Connections`."""
        if self._is_unread():
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
            return  # it waits for us
        self._ticks += 1
        if self.cycle.response_complete:
            if self._ticks > LINGER_SECONDS:
                self.abort()
        elif self._ticks > BODY_SECONDS + self._body / BODY_RATE:
            self._late("request's body", self._ticks)

    def _late(self, what: str, seconds: int) -> None:
        if self._in_head or self._in_body:
            self._refuse(ApiError(ErrorCode.REQUEST_TIMEOUT, f"The {what} was not complete after {seconds} seconds."))
        else:
            self.transport.close()  # a browser opens connections before it needs them, and expects no answer

    def _is_unread(self) -> bool:
        """Whether the client has taken nothing of what waits for it, for too long."""
        unread = self.transport.get_write_buffer_size()
        self._unread_ticks = self._unread_ticks + 1 if unread and unread == self._unread else 0
        self._unread = unread
        return self._unread_ticks > UNREAD_SECONDS

    def abort(self) -> None:
        """Closes the connection at once, whatever waits to be sent."""
        self._leave()
        self.transport.abort()

    def _leave(self) -> None:
        """Tells the app that the client is gone, and lets it write nothing more."""
        for cycle in (self._running, self.cycle):
            if cycle is not None and not cycle.response_complete:
                cycle.disconnected = True
                cycle.message_event.set()

    def _refuse(self, error: ApiError) -> None:
        """Answers in place of the app, and reads on until the client has seen it: closing with something unread would
        reset the connection below the answer."""
        logger.info("%s:%d was refused below HTTP: %s", *(self.client or ("-", 0)), error.message)
        self._refused = True
        self._ticks = 0
        self._connections.waits(self)
        if self._answers and (self._running.response_started or self.pipeline):
            self.abort()  # in the middle of another answer nothing can be said
            return
        self._leave()
        self.transport.write(raw_answer(error, self.server_state.default_headers))
        self.transport.write_eof()


def _too_large() -> ApiError:
    message = (
        f"The request's head is larger than the {HEAD_BYTES} bytes or {HEAD_FIELDS} fields that this server reads."
    )
    return ApiError(ErrorCode.HEADERS_TOO_LARGE, message)
