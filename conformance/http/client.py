"""An HTTP client for one server, with limits on time and size."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx

from specvino.conformance.http.content import IDENTITY, BadContent, Content, TooLong
from specvino.conformance.http.exchange import Ended, Exchange, Request

RETRIED = (429, 503)
LONGEST_WAIT = 30.0
MOST_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Target:
    """The server under test and how to reach it. `url` includes the base path (`http://127.0.0.1:8000/v1`). Times are
    in seconds."""

    url: str
    key: str | None = None
    model: str | None = None
    timeout: float = 60.0
    extra: Mapping[str, str] = field(default_factory=dict)
    """Headers for every request, with lower-case names. Their values are as secret as the key."""
    cacert: str | None = None
    """A file of CA certificates to verify the server's certificate; None for the default ones."""
    insecure: bool = False
    """Whether to skip verification of the server's certificate."""
    key_header: str | None = None
    """The lower-case name of the header for the bare key; None for `Authorization: Bearer`."""
    key_variable: str = "SPECVINO_API_KEY"
    """The variable for the key in commands."""

    def credentials(self, key: str | None) -> dict[str, str]:
        """Returns the header for a key; empty without a key."""
        if key is None:
            return {}
        return {self.key_header: key} if self.key_header else {"authorization": f"Bearer {key}"}


class Leaving:
    """Lets a client leave while an answer comes."""

    def __init__(self) -> None:
        self._limit: asyncio.Timeout | None = None
        self.is_done = False

    def watch(self, limit: asyncio.Timeout) -> None:
        """Takes the time limit of an exchange, which `leave` ends."""
        self._limit = limit

    def leave(self) -> None:
        """Closes the connection of the exchange, if it is under way."""
        if self._limit is not None:
            self.is_done = True
            self._limit.reschedule(asyncio.get_running_loop().time())


class Client:
    """A connection pool to one server, as an async context manager. Exchanges are numbered from 1."""

    def __init__(
        self,
        target: Target,
        *,
        connections: int = 100,
        on_exchange: Callable[[Exchange], None] = lambda _: None,
        counted_by: "Client | None" = None,
    ) -> None:
        """`connections` is the largest number of open connections. `on_exchange` is called with each exchange,
        including those that are retried. With `counted_by`, requests count as those of that client."""
        self.target = target
        self.on_exchange: Callable[[Exchange], None] = counted_by.on_exchange if counted_by else on_exchange
        self._counting = counted_by or self
        self.sent = 0
        self._under_way = 0
        self._http = httpx.AsyncClient(
            timeout=None,
            headers=IDENTITY,
            limits=httpx.Limits(max_connections=connections),
            follow_redirects=False,
            trust_env=False,
            verify=tls(target.cacert, target.insecure),
        )

    async def __aenter__(self) -> "Client":
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._http.__aexit__(*raised)

    async def send(
        self,
        request: Request,
        *,
        leave_after: int | None = None,
        leave_at: float | None = None,
        leaving: Leaving | None = None,
        deadline: float | None = None,
    ) -> Exchange:
        """Sends a request and returns the exchange. Never raises for faults of the server.

        `leave_after` closes the connection after that number of body chunks, `leave_at` after that number of seconds,
        and `leaving` when it is told to.
        While the server is busy (429 or 503 with Retry-After), waits and retries, up to MOST_RETRIES times and not
        beyond `deadline` (seconds of `time.monotonic`).
        """
        for retries in range(MOST_RETRIES + 1):
            exchange = await self._once(request, leave_after, leave_at, leaving, retries)
            if exchange.status is None and exchange.ended == "cut off" and retries == 0:
                continue  # the server may have closed an idle connection; HTTP clients retry that
            wait = wait_of(exchange.headers)
            if exchange.status not in RETRIED or wait is None or retries == MOST_RETRIES:
                break
            if deadline is not None and time.monotonic() + wait > deadline:
                break
            await asyncio.sleep(wait)
        return exchange

    async def _once(
        self,
        request: Request,
        leave_after: int | None,
        leave_at: float | None,
        leaving: Leaving | None,
        retries: int,
    ) -> Exchange:
        request = replace(request, headers={**self.target.extra, **request.headers})
        with self.under_way() as (number, allowed):
            exchange = await self._answer(request, number, allowed, leave_after, leave_at, leaving, retries)
        self.on_exchange(exchange)
        return exchange

    @contextmanager
    def under_way(self, requests: int = 1) -> Iterator[tuple[int, float]]:
        """Counts requests that are sent together. Yields the number of the first one, and the seconds that they may
        take: a server may process requests one after the other, so the timeout grows with the requests under way."""
        number = self._counting.sent + 1
        self._counting.sent += requests
        self._under_way += requests
        try:
            yield number, self.target.timeout * self._under_way
        finally:
            self._under_way -= requests

    async def _answer(
        self,
        request: Request,
        number: int,
        allowed: float,
        leave_after: int | None,
        leave_at: float | None,
        leaving: Leaving | None,
        retries: int,
    ) -> Exchange:
        begun, began = time.monotonic(), time.time()
        status, headers, content = None, {}, Content("")
        times: list[float] = []
        received: list[int] = []
        ended: Ended = "complete"
        problem = connection = None
        leaves = leave_at is not None and leave_at < allowed
        try:
            async with asyncio.timeout(leave_at if leaves else allowed) as limit:
                if leaving:
                    leaving.watch(limit)
                url = full_url(self.target.url, request.path)
                sent = request.headers
                content_sent = _chunked(request.content) if "transfer-encoding" in sent else request.content
                async with self._http.stream(request.method, url, headers=sent, content=content_sent) as response:
                    status = response.status_code
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    connection = _connection(response)
                    content = Content(headers.get("content-encoding", ""))
                    async for piece in response.aiter_raw():
                        times.append(time.monotonic() - begun)
                        content.add(piece)
                        received.append(len(content.decoded))
                        if leave_after is not None and len(times) >= leave_after:
                            ended = "left"
                            break
        except (TimeoutError, httpx.TimeoutException):
            if leaves or (leaving and leaving.is_done):
                ended = "left"
            else:
                ended, problem = "too slow", f"the answer wasn't complete after {allowed:g} s"
        except TooLong as error:
            ended, problem = "too long", str(error)
        except BadContent as error:
            ended, problem = "cut off", str(error)
        except (httpx.ConnectError, OSError, UnicodeError) as error:  # UnicodeError: the host name can't be encoded
            ended, problem = "unreachable", f"no connection: {error}"
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            ended, problem = "cut off", f"the connection broke: {error or 'it ended before the answer was complete'}"
        return Exchange(
            number,
            request,
            status,
            headers,
            bytes(content.decoded),
            ended,
            time.monotonic() - begun,
            times[0] if times else None,
            problem,
            retries,
            tuple(times),
            connection,
            began,
            received=tuple(received),
        )


async def _chunked(content: bytes | None) -> AsyncIterator[bytes]:
    """Yields the content in two parts, for a body without Content-Length."""
    body = content or b""
    yield body[: len(body) // 2]
    yield body[len(body) // 2 :]


def _connection(response: httpx.Response) -> str | None:
    """Returns the local address of a connection that the server keeps open; otherwise None."""
    stream = response.extensions.get("network_stream")
    if stream is None or response.http_version != "HTTP/1.1" or "close" in response.headers.get("connection", ""):
        return None
    return str(stream.get_extra_info("client_addr"))


def url_of(request: Request, base: str) -> str:
    """Returns the URL of a request."""
    url = full_url(base, request.path)
    return socket_url(url) if request.is_message else url


def socket_url(url: str) -> str:
    """Returns the URL of a WebSocket at an `http` or `https` URL."""
    return url.replace("http", "ws", 1)


def full_url(base: str, path: str) -> str:
    """Returns the URL of a path, relative to the base URL; a path that starts with two slashes is relative to the
    server's root."""
    if path.startswith("//"):
        return str(httpx.URL(base).copy_with(raw_path=path[1:].encode()))
    return base.rstrip("/") + path


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds to wait by Retry-After; None without the header, or above LONGEST_WAIT."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        wait = float(value)
    except ValueError:
        try:
            wait = parsedate_to_datetime(value).timestamp() - time.time()
        except ValueError:
            return None
    return max(wait, 0.0) if wait <= LONGEST_WAIT else None


@cache
def tls(cacert: str | None, insecure: bool) -> ssl.SSLContext:
    """Returns a TLS context, cached since creating one takes longer than most answers. Raises OSError for a file
    without certificates."""
    if cacert is not None:
        return ssl.create_default_context(cafile=cacert)
    return httpx.create_ssl_context(verify=not insecure, trust_env=False)
