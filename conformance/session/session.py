"""The session of a case: sends requests as an ordinary client does and keeps the exchanges."""

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

# The token limit if the answer's length doesn't matter.
CAP = 32

# The token limit for answers constrained by a grammar: they end by themselves, possibly after reasoning.
ROOM = 512

# Statuses that properly refuse an optional feature.
UNSUPPORTED = (400, 404, 405, 422, 501)

# A minimal chat request.
HELLO = {"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 1}


class Session:
    """The requests of one case. `exchanges` are in the order of completion."""

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
        """Returns whether the server has a capability, such as `chat.tools_auto`; probes it on first use."""
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
        """Sends a request to an endpoint. The model's name and, if `capped`, a token limit are filled in unless the
        body has them."""
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
        """Sends any request. `body` is sent as JSON, `content` unchanged. Headers with an empty value are omitted.
        `key` is whether to send the API key; `for_rules` is whether the rules for all answers apply to the answer."""
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
        """Sends like `send`. Raises Failed unless the answer is a complete 200; NotExercised if the server refuses the
        request and the system's document does, too."""
        exchange = await self.send(endpoint, body, **how)
        if (exchange.status or 0) >= 400 and self.dialect.alone_rejects(endpoint, exchange.request.body):
            raise NotExercised(f"the request isn't valid by the document of {self.dialect.name}")
        require_answer(exchange)
        return exchange

    @asynccontextmanager
    async def one_connection(self) -> AsyncIterator["Session"]:
        """Yields a session that sends its requests one after the other on one connection, as long as the server keeps
        it open."""
        async with Client(self.client.target, connections=1, counted_by=self.client) as client:
            single = Session(client, self.dialect, self.model, self._on_exchange, self.capable, self._deadline)
            single.exchanges = self.exchanges
            yield single

    async def together(self, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Exchange]:
        """Sends requests concurrently with `send`. Returns the exchanges in the order of the requests."""
        return list(await asyncio.gather(*(self.send(endpoint, body) for endpoint, body in requests)))


def require_answer(exchange: Exchange) -> None:
    """Raises Failed unless the answer is a complete 200."""
    if exchange.status != 200:
        reason = exchange.problem or exchange.content[:200].decode("utf-8", "replace")
        raise Failed(f"the answer is {exchange.status or exchange.ended}, not 200: {reason}", exchange)
    if exchange.ended != "complete":
        raise Failed(exchange.problem or exchange.ended, exchange)


def require_alive(exchange: Exchange) -> None:
    """Raises Failed unless the list of models shows that the server is alive. A 404 counts as alive: another case
    reports it."""
    if exchange.status != 404 or exchange.ended != "complete":
        require_answer(exchange)


@contextmanager
def about(*exchanges: Exchange) -> Iterator[None]:
    """Adds these exchanges to any Failed raised in the block."""
    try:
        yield
    except Failed as failed:
        raise Failed(str(failed), *failed.finding.exchanges, *exchanges, advice=failed.advice) from None


def with_room(endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with the token limit ROOM, unless it has a limit."""
    limits = LIMITS[endpoint]
    return dict(body) if any(name in body for name in limits) else {**body, limits[0]: ROOM}
