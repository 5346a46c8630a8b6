"""The session of a case: sends requests as an ordinary client does and keeps the exchanges."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from specvino.conformance.dialect import Dialect
from specvino.conformance.endpoints import has_limit, paths, token_limits, with_limit
from specvino.conformance.http.client import Client, Leaving
from specvino.conformance.http.exchange import MESSAGE, Exchange, Request
from specvino.conformance.http.socket import LANE, Socket, open_socket
from specvino.conformance.session.refused_fields import RefusedFields
from specvino.conformance.verdict import Failed, NotExercised, Refused

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
        replaced: Mapping[str, str | None] = MappingProxyType({}),
        subjects: Sequence[str] = (),
    ) -> None:
        """`replaced` are fields that the model refuses, with what is sent instead; None if they are left out.
        `subjects` are the fields that the case is about."""
        self.client = client
        self.dialect = dialect
        self.model = model
        self.capable = capable
        """Returns whether the server has a capability, such as `chat.tools_auto`; probes it on first use."""
        self.exchanges: list[Exchange] = []
        self._on_exchange = on_exchange
        self._deadline = deadline
        self._refused = RefusedFields(dialect, replaced)
        self._subjects = subjects

    async def send(
        self,
        endpoint: str,
        body: Mapping[str, Any] | None = None,
        *,
        capped: bool = True,
        leave_after: int | None = None,
        leaving: Leaving | None = None,
        headers: Mapping[str, str] | None = None,
        together: bool = False,
    ) -> Exchange:
        """Sends a request to an endpoint. The model's name and, if `capped`, a token limit are filled in unless the
        body has them. `together` is whether others are sent at the same time."""
        return await self.raw(
            "GET" if body is None else "POST",
            paths().get(endpoint, endpoint),
            endpoint=endpoint if endpoint in paths() else None,
            body=None if body is None else self.filled(endpoint, body, capped=capped),
            headers=headers,
            leave_after=leave_after,
            leaving=leaving,
            together=together,
        )

    def filled(self, endpoint: str, body: Mapping[str, Any], *, capped: bool = True) -> dict[str, Any]:
        """Returns a body with the model's name and, if `capped`, a token limit, unless it has them."""
        filled = {"model": self.model, **body}
        is_capped = capped and token_limits(endpoint) and not has_limit(endpoint, filled)
        return with_limit(endpoint, filled, CAP) if is_capped else filled

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
        leaving: Leaving | None = None,
        together: bool = False,
        for_rules: bool = True,
    ) -> Exchange:
        """Sends any request. `body` is sent as JSON, `content` unchanged. Headers with an empty value are omitted.
        `key` is whether to send the API key; `together` is whether others are sent at the same time; `for_rules` is
        whether the rules for all answers apply to the answer."""
        body = self.accepted(path, body)
        if content is None and body is not None:
            content = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        elif content is not None:
            content = self._refused.replaced_text(path, content)
        media = {"content-type": "application/json"} if content is not None else {}
        request = Request(endpoint, method, path, self._headers({**media, **(headers or {})}, key=key), content, body)
        exchange = await self.client.send(request, leave_after=leave_after, leaving=leaving, deadline=self._deadline)
        exchange = replace(exchange, together=together)
        self._keep(exchange, for_rules=for_rules)
        return exchange

    def accepted(self, path: str, body: Any) -> Any:
        """Returns a body without the fields that the model refuses. Raises Refused if the case is about a field that is
        left out."""
        for name, instead in self._refused.named_in(path, body).items():
            if instead is None and name in self._subjects:
                raise Refused(f"the model refuses {name}")
        return self._refused.replaced(path, body)

    def _headers(self, headers: Mapping[str, str], *, key: bool) -> dict[str, str]:
        sent = self.client.target.credentials(self.client.target.key) if key else {}
        sent |= {name.lower(): value for name, value in headers.items()}
        return {name: value for name, value in sent.items() if value}

    def _keep(self, exchange: Exchange, *, for_rules: bool = True) -> None:
        self.exchanges.append(exchange)
        if for_rules:
            self._on_exchange(exchange)

    async def answered(self, endpoint: str, body: Mapping[str, Any], **how: Any) -> Exchange:
        """Sends like `send`. Raises Failed unless the answer is a complete 200; NotExercised if the server refuses the
        request and the system's document does, too."""
        exchange = await self.send(endpoint, body, **how)
        self.require_answered(endpoint, exchange, exchange.request.body)
        return exchange

    def require_answered(self, endpoint: str, exchange: Exchange, body: Any) -> None:
        """Raises as `answered` does, for the answer to this body."""
        if (exchange.status or 0) >= 400 and self.dialect.alone_rejects(endpoint, body):
            raise NotExercised(f"the request isn't valid by the document of {self.dialect.name}")
        require_answer(exchange)

    @asynccontextmanager
    async def one_connection(self) -> AsyncIterator["Session"]:
        """Yields a session that sends its requests one after the other on one connection, as long as the server keeps
        it open."""
        async with Client(self.client.target, connections=1, counted_by=self.client) as client:
            single = copy(self)
            single.client = client
            yield single

    @asynccontextmanager
    async def controls(self) -> AsyncIterator[Callable[[], Awaitable[int | None]]]:
        """Yields a function that asks for the list of models on a connection of its own, and returns the status. These
        requests are no exchanges: nothing of them is kept or reported. A busy server isn't asked again."""
        request = Request(None, "GET", paths()["models"], self._headers({}, key=True), None)

        async with Client(self.client.target, connections=1) as client:

            async def control() -> int | None:
                return (await client.send(request, deadline=0.0)).status

            yield control

    @asynccontextmanager
    async def socket(
        self, endpoint: str, *, key: bool = True, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator["SocketSession"]:
        """Yields a WebSocket at the path of an endpoint. Raises Failed if the server doesn't accept it."""
        async with self.upgrade(endpoint, key=key, headers=headers) as (handshake, socket):
            if socket is None:
                reason = handshake.problem or f"the handshake is refused with {handshake.status}"
                raise Failed(f"the WebSocket isn't opened: {reason}", handshake)
            yield socket

    @asynccontextmanager
    async def upgrade(
        self, endpoint: str, *, key: bool = True, headers: Mapping[str, str] | None = None
    ) -> AsyncIterator[tuple[Exchange, "SocketSession | None"]]:
        """Yields the exchange of a handshake at the path of an endpoint, and the WebSocket if the server accepts it.
        The rules for all answers don't apply to the handshake, which no document describes."""
        sent = self._headers(headers or {}, key=key)
        request = Request(endpoint, "GET", paths()[endpoint], sent, None)
        handshake, socket = await open_socket(self.client, request, self.dialect.message_ends(endpoint))
        self._keep(handshake, for_rules=False)
        if socket is None:
            yield handshake, None
            return
        try:
            yield handshake, SocketSession(self, endpoint, socket, sent)
        finally:
            await socket.close()

    async def on_socket(self, socket: Socket, requests: Sequence[Request]) -> list[Exchange]:
        """Sends messages on a WebSocket without waiting for an answer in between."""
        sent = await socket.send(requests, deadline=self._deadline)
        exchanges = [replace(exchange, together=len(requests) > 1) for exchange in sent]
        for exchange in exchanges:
            self._keep(exchange)
        return exchanges

    async def together(self, requests: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Exchange]:
        """Sends requests concurrently with `send`. Returns the exchanges in the order of the requests."""
        together = len(requests) > 1
        sent = (self.send(endpoint, body, together=together) for endpoint, body in requests)
        return list(await asyncio.gather(*sent))


# The fields of a message that aren't fields of the endpoint's body.
OF_MESSAGE = ("type", "generate", LANE)


class SocketSession:
    """A WebSocket of one case. Its requests are exchanges of the session."""

    def __init__(self, session: Session, endpoint: str, socket: Socket, headers: Mapping[str, str]) -> None:
        self._session = session
        self._endpoint = endpoint
        self._socket = socket
        self._headers = headers

    @property
    def close_code(self) -> int | None:
        """The code with which the connection was closed; None while it is open."""
        return self._socket.close_code

    async def raw(self, content: bytes, *, body: Any = None, binary: bool = False) -> Exchange:
        """Sends any message; `body` is its JSON value."""
        (exchange,) = await self._session.on_socket(self._socket, [self._request(content, body, binary)])
        return exchange

    async def send(self, body: Mapping[str, Any]) -> Exchange:
        """Asks for a response that isn't stored unless the body says so. The model and a token limit are filled in."""
        (exchange,) = await self.together([body])
        return exchange

    async def answered(self, body: Mapping[str, Any]) -> Exchange:
        """Sends like `send`, and raises as `Session.answered` does."""
        exchange = await self.send(body)
        plain = {name: value for name, value in exchange.request.body.items() if name not in OF_MESSAGE}
        self._session.require_answered(self._endpoint, exchange, plain)
        return exchange

    async def together(self, bodies: Sequence[Mapping[str, Any]]) -> list[Exchange]:
        """Sends like `send`, without waiting for an answer in between. Returns the exchanges in the order of the
        bodies."""
        filled = [
            {"type": "response.create", "store": False, **self._session.filled(self._endpoint, body)} for body in bodies
        ]
        accepted = [self._session.accepted(paths()[self._endpoint], body) for body in filled]
        requests = [self._request(json.dumps(body, ensure_ascii=False).encode(), body) for body in accepted]
        return await self._session.on_socket(self._socket, requests)

    def _request(self, content: bytes, body: Any, binary: bool = False) -> Request:
        return Request(self._endpoint, MESSAGE, paths()[self._endpoint], self._headers, content, body, binary)


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


IGNORE_EOS = "/components/schemas/CreateChatCompletionRequest/properties/ignore_eos"


def with_ignore_eos(session: Session, endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with ignore_eos, if the dialect supports it, so that the answer reaches its limit."""
    ignores = session.dialect.level(IGNORE_EOS, "chat") == "full"
    has_field = "ignore_eos" in session.dialect.fields(paths()[endpoint])
    return {**body, **({"ignore_eos": True} if ignores and has_field else {})}


def with_room(endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with the token limit ROOM, unless it has a limit."""
    return dict(body) if has_limit(endpoint, body) else with_limit(endpoint, body, ROOM)
