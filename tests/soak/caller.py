"""A client of the server under soak, whose every exchange is judged and written down."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from soak.ends import End, Ends
from soak.journal import Journal, Who
from specvino.conformance.endpoints import paths
from specvino.conformance.http.client import Client, wait_of
from specvino.conformance.http.exchange import Exchange, Request

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
        end = self._ends.judge(exchange)
        self.journal.add(self.who, kind, end, exchange.seconds, exchange.first)
        return exchange, end

    async def answered(self, kind: str, endpoint: str, body: Mapping[str, Any] | None = None, **how: Any) -> Exchange:
        """Asks until there is an answer, as long as the server says that another try may help. Raises Unanswered."""
        begun = time.monotonic()
        while True:
            exchange, end = await self.ask(kind, endpoint, body, **how)
            if end.outcome in ("answered", "left"):
                return exchange
            if not end.retryable or time.monotonic() - begun > _PATIENCE:
                break
            await asyncio.sleep(min(wait_of(exchange.headers) or 0.5, _LONGEST_WAIT))
        raise Unanswered(f"{exchange}: {end.code or end.outcome} {exchange.content[-300:].decode('utf-8', 'replace')}")


class Unanswered(Exception):
    """An honest request got no answer, however often it came."""
