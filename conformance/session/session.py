"""The session of a case: it sends requests as an ordinary client does, and keeps the answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import LIMITS, paths
from specvino.conformance.http.client import Client
from specvino.conformance.http.exchange import Exchange, Request
from specvino.conformance.verdict import Failed, NotExercised

# Tokens of an answer whose length doesn't matter to a case.
CAP = 32

# Tokens of an answer that a grammar constrains: it ends by itself, and reasoning may come before it.
ROOM = 512

# Statuses of a proper refusal of an optional feature.
UNSUPPORTED = (400, 404, 405, 422, 501)

# A small conversation.
HELLO = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 1}


class Session:
    """The requests of one case. `exchanges` are those of this case, in the order in which they ended."""

    def __init__(
        self,
        client: Client,
        dialect: Dialect,
        model: str,
        on_exchange: Callable[[Exchange], None],
        capable: Callable[[str], Awaitable[bool]],
        deadline: float | None = None,
    ) -> None:
        self.client = client
        self.dialect = dialect
        self.model = model
        self.capable = capable
        """Whether the server has a capability, such as `chat.tools`; tries it the first time."""
        self.exchanges: list[Exchange] = []
        self._on_exchange = on_exchange
        self._deadline = deadline

    async def send(
        self,
        endpoint: str,
        body: Mapping[str, Any] | None = None,
        *,
        capped: bool = True,
        leave_after: int | None = None,
        leave_at: float | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Exchange:
        """Sends an ordinary request: the model's name and a token limit are filled in where the body has none."""
        filled: dict[str, Any] | None = None
        if body is not None:
            filled = {"model": self.model, **body}
            limits = LIMITS.get(endpoint, ())
            if capped and limits and not any(name in filled for name in limits):
                filled[limits[0]] = CAP
        return await self.raw(
            "GET" if body is None else "POST",
            paths().get(endpoint, endpoint),
            endpoint=endpoint if endpoint in paths() else None,
            body=filled,
            headers=headers,
            leave_after=leave_after,
            leave_at=leave_at,
        )

    async def raw(
        self,
        method: str,
        path: str,
        *,
        endpoint: str | None = None,
        body: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        key: bool = True,
        leave_after: int | None = None,
        leave_at: float | None = None,
        for_rules: bool = True,
    ) -> Exchange:
        """Sends any request. `body` is sent as JSON, `content` unchanged. An empty header is left out. Without `key` no
        API key is sent. Without `for_rules` the answer is for this case alone, not for the rules for all answers."""
        if content is None and body is not None:
            content = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        sent = {"content-type": "application/json"} if content is not None else {}
        if key:
            sent |= self.client.target.credentials(self.client.target.key)
        sent |= {name.lower(): value for name, value in (headers or {}).items()}
        sent = {name: value for name, value in sent.items() if value}
        request = Request(endpoint, method, path, sent, content, body)
        exchange = await self.client.send(request, leave_after=leave_after, leave_at=leave_at, deadline=self._deadline)
        self.exchanges.append(exchange)
        if for_rules:
            self._on_exchange(exchange)
        return exchange

    async def answered(self, endpoint: str, body: Mapping[str, Any], **how: Any) -> Exchange:
        """Sends as `send` does. Raises Failed for anything but a complete 200, and NotExercised if the system's
        document refuses the request, too."""
        exchange = await self.send(endpoint, body, **how)
        if (exchange.status or 0) >= 400 and self.dialect.alone_refuses(endpoint, exchange.request.body):
            raise NotExercised(f"the document of {self.dialect.name} refuses the request")
        require_answer(exchange)
        return exchange

    @asynccontextmanager
    async def one_connection(self) -> AsyncIterator["Session"]:
        """Yields a session whose requests use one connection, one after the other, as long as the server keeps it."""
        async with Client(self.client.target, connections=1, beside=self.client) as client:
            single = Session(client, self.dialect, self.model, self._on_exchange, self.capable, self._deadline)
            single.exchanges = self.exchanges
            yield single

    async def together(self, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Exchange]:
        """Sends several ordinary requests concurrently; returns the answers in the order of the requests."""
        return list(await asyncio.gather(*(self.send(endpoint, body) for endpoint, body in requests)))


def require_answer(exchange: Exchange) -> None:
    """Raises Failed if the exchange isn't a complete 200."""
    if exchange.status != 200:
        reason = exchange.problem or exchange.content[:200].decode("utf-8", "replace")
        raise Failed(f"the answer is {exchange.status or exchange.ended}, not 200: {reason}", exchange)
    if exchange.ended != "complete":
        raise Failed(exchange.problem or exchange.ended, exchange)


def require_alive(exchange: Exchange) -> None:
    """Raises Failed unless the list of models is answered, which shows that the server is alive. The case for the list
    itself reports a 404."""
    if exchange.status != 404 or exchange.ended != "complete":
        require_answer(exchange)


@contextmanager
def about(*exchanges: Exchange) -> Iterator[None]:
    """Adds these exchanges to failures within the block."""
    try:
        yield
    except Failed as failed:
        raise Failed(str(failed), *failed.finding.exchanges, *exchanges, advice=failed.advice) from None


def with_room(endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with the limit ROOM of tokens, unless it has one of its own."""
    limits = LIMITS[endpoint]
    return dict(body) if any(name in body for name in limits) else {**body, limits[0]: ROOM}
