"""Sends requests, one server's only, and reads whatever comes back with limits on time and size."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx

from specvino.conformance.http.exchange import Ended, Exchange, Request

# Bytes of an answer that are read: an event without end must not fill the memory.
LONGEST = 8_000_000

RETRIED = (429, 503)
LONGEST_WAIT = 30.0
MOST_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Target:
    """Names the server: `url` has the base path (`http://127.0.0.1:8000/v1`). Times are in seconds."""

    url: str
    key: str | None = None
    model: str | None = None
    timeout: float = 60.0
    extra: Mapping[str, str] = field(default_factory=dict)
    """Headers for every request, with small names: as secret as the key."""
    cacert: str | None = None
    """A file of certificates, one of which must have signed the server's; None for those that are well known."""
    insecure: bool = False
    """The server's certificate isn't looked at."""
    key_header: str | None = None
    """The header, with small letters, that holds the key and nothing else; None for `Authorization: Bearer`."""

    def credentials(self, key: str | None) -> dict[str, str]:
        """Returns the header that a key goes in; none without one."""
        if key is None:
            return {}
        return {self.key_header: key} if self.key_header else {"authorization": f"Bearer {key}"}


class Client:
    """Holds the connections, as a context manager, and counts its exchanges from 1."""

    def __init__(
        self,
        target: Target,
        *,
        connections: int = 100,
        on_exchange: Callable[[Exchange], None] = lambda _: None,
        beside: "Client | None" = None,
    ) -> None:
        """Takes in `connections` how many may be open at once; `on_exchange` is given each exchange, also those that
        are tried again. What is sent is counted by the client that it is `beside`."""
        self.target = target
        self.on_exchange: Callable[[Exchange], None] = beside.on_exchange if beside else on_exchange
        self._counting = beside or self
        self.sent = 0
        self._under_way = 0
        self._http = httpx.AsyncClient(
            timeout=None,
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
        deadline: float | None = None,
    ) -> Exchange:
        """Sends a request and returns the exchange. `leave_after` closes the connection after that many pieces of the
        body, `leave_at` after so many seconds. Waits and tries again where the server says that it is busy; never
        raises for anything that the server does."""
        for retries in range(MOST_RETRIES + 1):
            exchange = await self._once(request, leave_after, leave_at, retries)
            if exchange.status is None and exchange.ended == "cut off" and retries == 0:
                continue  # a connection of the pool that the server had closed meanwhile, as it may: all clients do so
            wait = wait_of(exchange.headers)
            if exchange.status not in RETRIED or wait is None or retries == MOST_RETRIES:
                break
            if deadline is not None and time.monotonic() + wait > deadline:
                break
            await asyncio.sleep(wait)
        return exchange

    async def _once(self, request: Request, leave_after: int | None, leave_at: float | None, retries: int) -> Exchange:
        self._counting.sent += 1
        request = replace(request, headers={**self.target.extra, **request.headers})
        number, begun, began = self._counting.sent, time.monotonic(), time.time()
        status, headers, content = None, {}, bytearray()
        times: list[float] = []
        ended: Ended = "complete"
        problem = connection = None
        self._under_way += 1
        # A server may take one request after the other: to wait for the others in line is no slowness.
        allowed = self.target.timeout * self._under_way
        leaves = leave_at is not None and leave_at < allowed
        try:
            async with asyncio.timeout(leave_at if leaves else allowed):
                url = full_url(self.target.url, request.path)
                sent = request.headers
                content_sent = _chunked(request.content) if "transfer-encoding" in sent else request.content
                async with self._http.stream(request.method, url, headers=sent, content=content_sent) as response:
                    status = response.status_code
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    connection = _connection(response)
                    async for piece in response.aiter_bytes():
                        times.append(time.monotonic() - begun)
                        content += piece
                        if len(content) > LONGEST:
                            ended, problem = "too long", f"the answer is longer than {LONGEST} bytes"
                            break
                        if leave_after is not None and len(times) >= leave_after:
                            ended = "left"
                            break
        except (TimeoutError, httpx.TimeoutException):
            if leaves:
                ended = "left"
            else:
                ended, problem = "too slow", f"the answer was not whole after {allowed:g} s"
        except (httpx.ConnectError, OSError, UnicodeError) as error:  # a name that nobody can look up is the last one
            ended, problem = "unreachable", f"no connection: {error}"
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            ended, problem = "cut off", f"the connection broke: {error or 'it ended within the answer'}"
        finally:
            self._under_way -= 1
        exchange = Exchange(
            number,
            request,
            status,
            headers,
            bytes(content),
            ended,
            time.monotonic() - begun,
            times[0] if times else None,
            problem,
            retries,
            tuple(times),
            connection,
            began,
        )
        self.on_exchange(exchange)
        return exchange


async def _chunked(content: bytes | None) -> AsyncIterator[bytes]:
    """Sends the content in two pieces, whose length nobody knows before."""
    whole = content or b""
    yield whole[: len(whole) // 2]
    yield whole[len(whole) // 2 :]


def _connection(response: httpx.Response) -> str | None:
    """Returns our end of the connection, where the server keeps it open for the next request; else None."""
    stream = response.extensions.get("network_stream")
    if stream is None or response.http_version != "HTTP/1.1" or "close" in response.headers.get("connection", ""):
        return None
    return str(stream.get_extra_info("client_addr"))


def full_url(base: str, path: str) -> str:
    """Returns the URL of a path. Paths are relative to the base URL; those that begin with two slashes to the server's
    root."""
    if path.startswith("//"):
        return str(httpx.URL(base).copy_with(raw_path=path[1:].encode()))
    return base.rstrip("/") + path


def wait_of(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds that a server asks for in an answer; None where it asks for none, or for too many."""
    said = headers.get("retry-after")
    if said is None:
        return None
    try:
        wait = float(said)
    except ValueError:
        try:
            wait = parsedate_to_datetime(said).timestamp() - time.time()
        except ValueError:
            return None
    return max(wait, 0.0) if wait <= LONGEST_WAIT else None


@cache
def tls(cacert: str | None, insecure: bool) -> ssl.SSLContext:
    """Makes one TLS context for all clients: to make it takes longer than most answers. Raises OSError for a file that
    holds no certificates."""
    if cacert is not None:
        return ssl.create_default_context(cafile=cacert)
    return httpx.create_ssl_context(verify=not insecure, trust_env=False)
