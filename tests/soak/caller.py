"""A client of the server under soak, whose every exchange is judged and written down."""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from soak.ends import End, Ends
from soak.journal import Journal, Who
from specvino.conformance.endpoints import paths
from specvino.conformance.http.client import Client, wait_of
from specvino.conformance.http.exchange import MESSAGE, Exchange, Request
from specvino.conformance.http.socket import open_socket

# How long (seconds) an honest client tries again, if a server asks for that; and how long it waits before each time.
_PATIENCE = 240.0
_LONGEST_WAIT = 20.0


class Caller:
    """Asks as the owner of `key`, or of none."""

    def __init__(self, client: Client, ends: Ends, journal: Journal, who: Who, model: str, key: str | None) -> None:
        self.model = model
        self.journal = journal
        self.key = key
        self.who: Who = who
        self._client = client
        self._ends = ends

    async def ask(
        self,
        kind: str,
        endpoint: str | None,
        body: Mapping[str, Any] | None = None,
        *,
        method: str | None = None,
        path: str | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        leave_after: int | None = None,
        leave_at: float | None = None,
    ) -> tuple[Exchange, End]:
        """Sends a request once. A body gets the model's name; `content` is sent as it is."""
        filled = None if body is None else {"model": self.model, **body}
        if filled is not None and content is None:
            content = json.dumps(filled).encode()
        sent = {} if content is None else {"content-type": "application/json"}
        if self.key is not None:
            sent["authorization"] = f"Bearer {self.key}"
        request = Request(
            endpoint,
            method or ("GET" if content is None else "POST"),
            path or paths()[endpoint or ""],
            sent | dict(headers or {}),
            content,
            filled,
        )
        # The deadline has passed: the journal has each try.
        exchange = await self._client.send(request, leave_after=leave_after, leave_at=leave_at, deadline=0)
        return exchange, self._noted(kind, exchange)

    async def message(self, kind: str, endpoint: str, body: Mapping[str, Any], **how: Any) -> tuple[Exchange, End]:
        """Sends a message on a WebSocket of its own, which gets the model's name; `headers` are the handshake's, and
        `leave_at` is the number of seconds after which the client leaves. Refused, the handshake is the exchange."""
        sent = ({"authorization": f"Bearer {self.key}"} if self.key is not None else {}) | dict(
            how.get("headers") or {}
        )
        request = Request(endpoint, "GET", paths()[endpoint], sent, None)
        exchange, socket = await open_socket(self._client, request, self._ends.dialect.message_ends(endpoint))
        if socket is None:  # no document describes a handshake
            exchange = replace(exchange, request=replace(request, endpoint=None))
            return exchange, self._noted(kind, exchange)
        filled = {"type": "response.create", "model": self.model, **body}
        asked = Request(endpoint, MESSAGE, request.path, sent, json.dumps(filled).encode(), filled)
        try:
            async with asyncio.timeout(how.get("leave_at")):
                (exchange,) = await socket.send([asked], deadline=0)
        except TimeoutError:
            exchange = replace(exchange, request=asked, status=None, ended="left")
        finally:
            await socket.close()
        return exchange, self._noted(kind, exchange)

    def _noted(self, kind: str, exchange: Exchange) -> End:
        end = self._ends.judge(exchange)
        self.journal.add(self.who, kind, end, exchange.seconds, first_token(exchange))
        return end

    async def answered(self, kind: str, endpoint: str, body: Mapping[str, Any] | None = None, **how: Any) -> Exchange:
        """Asks until there is an answer, as long as the server says that another try may help. Raises Unanswered."""
        return await self._until_answered(lambda: self.ask(kind, endpoint, body, **how))

    async def answered_by_message(self, kind: str, endpoint: str, body: Mapping[str, Any]) -> Exchange:
        """Asks like `answered`, on a WebSocket."""
        return await self._until_answered(lambda: self.message(kind, endpoint, body))

    async def _until_answered(self, ask: Callable[[], Awaitable[tuple[Exchange, End]]]) -> Exchange:
        begun = time.monotonic()
        while True:
            exchange, end = await ask()
            if end.outcome in ("answered", "left"):
                return exchange
            if not end.retryable or time.monotonic() - begun > _PATIENCE:
                break
            await asyncio.sleep(min(wait_of(exchange.headers) or 0.5, _LONGEST_WAIT))
        raise Unanswered(f"{exchange}: {end.code or end.outcome} {exchange.content[-300:].decode('utf-8', 'replace')}")


# The first text of an event, of any endpoint's stream.
_TEXT = re.compile(rb'"(?:content|text|delta|arguments|partial_json|reasoning|thinking)": ?"[^"]')


def first_token(exchange: Exchange) -> float | None:
    """Returns when the first text of a stream came, in seconds; None of what isn't one or has none. Events before it,
    such as the role, say nothing of the wait."""
    if not exchange.is_stream:
        return None
    if exchange.messages:
        ends: list[int] = list(accumulate(len(message) + 1 for message in exchange.messages))
    else:
        ends = list(exchange.received)
    match = _TEXT.search(exchange.content)
    if match is None:
        return None
    return next((at for at, end in zip(exchange.times, ends, strict=True) if end >= match.end()), None)


class Unanswered(Exception):
    """An honest request got no answer, however often it came."""
