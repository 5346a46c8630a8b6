"""WebSockets to the server under test: requests are messages, and so are the events of their answers."""

import asyncio
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from websockets import CloseCode
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus

from specvino.conformance.http.client import MOST_RETRIES, RETRIED, Client, full_url, socket_url, tls, wait_of
from specvino.conformance.http.content import LONGEST
from specvino.conformance.http.exchange import Ended, Exchange, Request

# The status of an accepted handshake.
SWITCHED = 101

# The field with a request's lane, in the request and in the events of its answer.
LANE = "stream_id"

# The headers of every handshake. The library makes another key for each; this is the sample of RFC 6455.
UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}

# Bytes that each message counts beyond its own, so that empty ones have an end, too.
OVERHEAD = 16

# Seconds for the server's part of the closing handshake, of which nothing depends.
CLOSING = 2.0


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception:
        """Follows none: the key is for the tested server only. websockets 17.4 documents no way to say so; a version
        without this method fails test_the_key_goes_to_no_other_server."""
        return exc


@dataclass(slots=True)
class _Turn:
    """A request under way. `begun` is in seconds of `time.monotonic`, `began` since 1970."""

    number: int
    request: Request
    begun: float
    began: float
    messages: list[bytes] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    done: bool = False

    @property
    def lane(self) -> Any:
        return self.request.asked(LANE)

    def add(self, message: bytes, value: Any) -> None:
        self.messages.append(message)
        self.times.append(time.monotonic() - self.begun)
        self.values.append(value)

    def exchange(self, ended: Ended, problem: str | None, retries: int) -> Exchange:
        return Exchange(
            self.number,
            self.request,
            self._status,
            self._headers,
            b"\n".join(self.messages),
            ended,
            time.monotonic() - self.begun,
            self.times[0] if self.times else None,
            problem,
            retries,
            tuple(self.times),
            None,
            self.began,
            tuple(self.messages),
        )

    @property
    def _status(self) -> int | None:
        """Returns the status of an error that is the whole answer: 400 if it has none. An error after other events is
        an event of their stream."""
        if not self.values:
            return None
        first = self.values[0]
        if not isinstance(first, Mapping) or first.get("type") != "error":
            return 200
        status = first.get("status")
        return status if type(status) is int and 400 <= status <= 599 else 400

    @property
    def _headers(self) -> dict[str, str]:
        first = self.values[0] if self.values and isinstance(self.values[0], Mapping) else {}
        holder = first.get("error") if first.get("type") == "error" else first
        headers = holder.get("headers") if isinstance(holder, Mapping) else None
        return {
            name.lower(): value
            for name, value in (headers.items() if isinstance(headers, Mapping) else ())
            if isinstance(value, str)
        }


class Socket:
    """An open WebSocket. `ends` are the types of the events that end an answer."""

    def __init__(self, client: Client, connection: ClientConnection, ends: Collection[str]) -> None:
        self._client = client
        self._connection = connection
        self._ends = ends

    @property
    def close_code(self) -> int | None:
        """The code with which the connection was closed; None while it is open."""
        return self._connection.close_code

    async def send(self, requests: Sequence[Request], *, deadline: float | None = None) -> list[Exchange]:
        """Sends messages without waiting for an answer in between, and returns their exchanges in this order. Never
        raises for faults of the server. Waits and retries as `Client.send` does."""
        exchanges = await self._once(requests, 0)
        for retries in range(1, MOST_RETRIES + 1):
            waits = {
                index: wait
                for index, exchange in enumerate(exchanges)
                if exchange.status in RETRIED and (wait := wait_of(exchange.headers)) is not None
            }
            if not waits or (deadline is not None and time.monotonic() + max(waits.values()) > deadline):
                break
            await asyncio.sleep(max(waits.values()))
            again = await self._once([requests[index] for index in waits], retries)
            for index, exchange in zip(waits, again, strict=True):
                exchanges[index] = exchange
        return exchanges

    async def close(self) -> None:
        await self._connection.close()

    async def _once(self, requests: Sequence[Request], retries: int) -> list[Exchange]:
        ended: Ended = "complete"
        problem = None
        with self._client.under_way(len(requests)) as (number, allowed):
            turns = [
                _Turn(number + index, request, time.monotonic(), time.time()) for index, request in enumerate(requests)
            ]
            try:
                async with asyncio.timeout(allowed):
                    for request in requests:
                        await self._connection.send(request.content or b"", text=not request.binary)
                    await self._receive(turns)
            except TimeoutError:
                ended, problem = "too slow", f"the answer wasn't complete after {allowed:g} s"
            except _TooLong as error:
                ended, problem = "too long", str(error)
            except ConnectionClosed as closed:
                ended, problem = _closed(closed)
        exchanges = [
            turn.exchange("complete", None, retries) if turn.done else turn.exchange(ended, problem, retries)
            for turn in turns
        ]
        for exchange in exchanges:
            self._client.on_exchange(exchange)
        return exchanges

    async def _receive(self, turns: Sequence[_Turn]) -> None:
        size = 0
        while open := [turn for turn in turns if not turn.done]:
            message = await self._connection.recv(decode=False)
            try:
                value = json.loads(message)
            except (ValueError, RecursionError):
                value = None
            is_event = isinstance(value, Mapping)
            lane = value.get(LANE) if is_event else None
            # Requests of one lane are answered in their order. A message of no request's lane is one of the oldest.
            turn = next((turn for turn in open if turn.lane == lane), open[0])
            turn.add(message, value)
            turn.done = is_event and value.get("type") in self._ends
            size += len(message) + OVERHEAD
            if size > LONGEST * len(turns):
                raise _TooLong(f"the messages exceed {LONGEST} bytes for each answer")


class _TooLong(Exception):
    pass


def _closed(closed: ConnectionClosed) -> tuple[Ended, str]:
    if closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG:
        return "too long", f"a message exceeds {LONGEST} bytes"
    if closed.rcvd is None:
        return "cut off", "the connection broke before the answer was complete"
    reason = f" ({closed.rcvd.reason})" if closed.rcvd.reason else ""
    return "cut off", f"the server closed the connection with the code {closed.rcvd.code}{reason}"


async def open_socket(client: Client, request: Request, ends: Collection[str]) -> tuple[Exchange, Socket | None]:
    """Sends a handshake. Returns its exchange, and the WebSocket if the server accepts it. Never raises for faults of
    the server."""
    target = client.target
    sent = {**target.extra, **request.headers}
    recorded = Request(request.endpoint, "GET", request.path, {**UPGRADE, **sent}, None)
    connection: ClientConnection | None = None
    status, headers, content = None, {}, b""
    ended: Ended = "complete"
    problem = None
    begun, began = time.monotonic(), time.time()
    url = socket_url(full_url(target.url, request.path))
    with client.under_way() as (number, allowed):
        try:
            async with asyncio.timeout(allowed):
                connection = await _Connect(
                    url,
                    additional_headers=sent,
                    proxy=None,
                    ssl=tls(target.cacert, target.insecure) if url.startswith("wss:") else None,
                    open_timeout=None,
                    # A late pong must not end a connection to a busy server.
                    ping_interval=None,
                    close_timeout=CLOSING,
                    max_size=LONGEST,
                )
            assert connection.response is not None
            status, headers = SWITCHED, _lower(connection.response.headers.raw_items())
        except InvalidStatus as error:
            status, headers = error.response.status_code, _lower(error.response.headers.raw_items())
            content = bytes(error.response.body or b"")
        except InvalidMessage as error:
            ended, problem = "cut off", f"the connection broke: {error}"
        except InvalidHandshake as error:
            ended, problem = "cut off", f"the answer isn't a valid handshake: {error}"
        except TimeoutError:
            ended, problem = "too slow", f"the answer wasn't complete after {allowed:g} s"
        except OSError as error:
            ended, problem = "unreachable", f"no connection: {error}"
    seconds = time.monotonic() - begun
    exchange = Exchange(number, recorded, status, headers, content, ended, seconds, None, problem, began=began)
    client.on_exchange(exchange)
    return exchange, None if connection is None else Socket(client, connection, ends)


def _lower(items: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in items}
