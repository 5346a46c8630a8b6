"""Checks of WebSockets: requests on one connection, in turn and at once, and messages that aren't requests."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from websockets import CloseCode

from specvino.conformance.case_checks.headers import require_key_refused, wrong_credentials
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.http.socket import LANE
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session, SocketSession, about, require_answer
from specvino.conformance.session.steadiness import require_alike
from specvino.conformance.session.steps import counted, expect
from specvino.conformance.session.stored_responses import SHORT, id_of, items_of
from specvino.conformance.verdict import Advice, Failed, NotExercised, Refused

HELLO = {"input": "Say hello.", "max_output_tokens": SHORT}

REFUSED_EARLY = Advice(
    "A client sees the status of a refused handshake. Of a connection that opens and fails, it can't see the reason.",
    "https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2",
)

STAYS_OPEN = Advice(
    "With its connection, a client loses the turns that aren't stored.",
    "/components/schemas/ResponseWebSocketError",
)

OTHER_CODE = Advice(
    "By the code 1003, clients know that binary messages aren't accepted.",
    "https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1",
)

# How a connection ends by a fault of the server; without a code it is open or broke.
FAULTS = (None, CloseCode.ABNORMAL_CLOSURE, CloseCode.INTERNAL_ERROR)


async def opens_socket(session: Session, endpoint: str) -> None:
    """Raises Refused if the server doesn't open a WebSocket at the endpoint's path, Failed if it fails to, or doesn't
    answer a request on it."""
    async with session.upgrade(endpoint) as (handshake, socket):
        if socket is not None:
            require_answer(await socket.send(HELLO))
            return
        if handshake.status is None:
            raise Failed(f"the handshake is neither accepted nor refused: {handshake.problem}", handshake)
        if handshake.status == 401:
            raise Failed("the handshake is refused with 401, though its key is that of the other requests", handshake)
        if handshake.status >= 500 and handshake.status != 501:
            raise Failed(f"the handshake is a server error, {handshake.status}", handshake)
        raise Refused(f"the handshake of a WebSocket is answered with {handshake.status}")


async def socket_equals_stream(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The answer on a WebSocket has the events of the stream, in the same order, and the same content. The number of
    deltas may differ."""
    async with session.socket(endpoint) as socket:
        streamed = partial(_streamed, session, endpoint, body)
        await require_alike(partial(socket.answered, body), streamed, _differences, within=_changes)


async def _streamed(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    exchange = await session.answered(endpoint, {**body, "stream": True, "store": False})
    exchange.require_stream()
    return exchange


def _differences(one: Exchange, other: Exchange) -> dict[str, str]:
    """Returns the differences of an answer on a WebSocket and a stream, by what differs."""
    differences: dict[str, str] = {}
    if (events := _events(one)) != (expected := _events(other)):
        differences["events"] = f"the events are {', '.join(events)}, but {', '.join(expected)} in the stream"
    streamed = _content(other)
    for name, value in _content(one).items():
        if value != streamed[name]:
            differences[name] = f"the {name} of the answer is {value!r}, but {streamed[name]!r} in the stream"
    return differences


def _changes(one: Exchange, other: Exchange) -> dict[str, str]:
    """Returns the differences of two answers to the same request: if they say something else, they may end otherwise,
    and so by other events, although by chance they don't."""
    changes = _differences(one, other)
    return changes | {"events": "", "finish reason": ""} if changes.keys() & {"text", "reasoning", "calls"} else changes


def _events(exchange: Exchange) -> list[str]:
    """Returns the types of the events, without repetitions: a text may come in more or fewer deltas."""
    return [str(type) for type, _ in groupby(chunk.get("type") for chunk in exchange.chunks)]


def _content(exchange: Exchange) -> dict[str, Any]:
    (output,) = outputs(exchange)
    return {
        "text": output.text,
        "reasoning": output.reasoning,
        "finish reason": output.reason,
        "calls": output.calls,
        "number of input tokens": counted(exchange, "input_tokens"),
    }


async def socket_continues(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """On a WebSocket, a response that isn't stored is continued: each input includes all earlier turns."""
    before: Exchange | None = None
    async with session.socket(endpoint) as socket:
        for body in bodies:
            linked = {"previous_response_id": id_of(before)} if before is not None else {}
            exchange = await socket.answered({**body, **linked})
            if before is not None:
                _require_longer(before, exchange, "the earlier turns")
            before = exchange


async def socket_forgets(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A response that isn't stored is unknown on any other WebSocket."""
    async with session.socket(endpoint) as socket, session.socket(endpoint) as other:
        first = await socket.answered(body)
        second = await other.send({**body, "previous_response_id": id_of(first)})
        if second.ok:
            raise Failed("a response that isn't stored is continued on another connection", first, second)
        with about(first):
            expect(second, {"status": ["4xx"]}, session.dialect, endpoint)
            await _require_usable(session, other, second)


async def socket_lanes(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Requests in several lanes at the same time each get their own answer, whose events have their lane."""
    async with session.socket(endpoint) as socket:
        alone = [await socket.answered(body) for body in bodies]
        lanes = [f"lane-{index}" for index in range(len(bodies))]
        exchanges = await socket.together([{**body, LANE: lane} for body, lane in zip(bodies, lanes, strict=True)])
    for lane, exchange in zip(lanes, exchanges, strict=True):
        require_answer(exchange)
        for chunk in exchange.chunks:
            if chunk.get(LANE) != lane:
                has = f"is {chunk[LANE]!r}" if LANE in chunk else "is missing"
                raise Failed(f"{LANE} of {chunk.get('type')} {has}, though that of the request is {lane!r}", exchange)
    _require_own(exchanges, alone)


async def socket_in_order(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Requests without lanes that are sent at once are answered one after the other, in their order."""
    async with session.socket(endpoint) as socket:
        alone = [await socket.answered(body) for body in bodies]
        exchanges = await socket.together(bodies)
    for exchange in exchanges:
        require_answer(exchange)
    _require_own(exchanges, alone)


def _require_own(exchanges: Sequence[Exchange], alone: Sequence[Exchange]) -> None:
    """Raises Failed unless each answer has the prompt of its request, and its own id."""
    for exchange, single in zip(exchanges, alone, strict=True):
        together, separate = counted(exchange, "input_tokens"), counted(single, "input_tokens")
        if together != separate:
            message = f"usage.input_tokens is {together} when two requests run together, {separate} alone"
            raise Failed(message, exchange, single)
        ids = {chunk["response"].get("id") for chunk in exchange.chunks if isinstance(chunk.get("response"), Mapping)}
        if len(ids) > 1:
            raise Failed(f"the events of an answer have the ids {', '.join(map(str, sorted(ids)))}", exchange)
    if len({id_of(exchange) for exchange in exchanges}) < len(exchanges):
        raise Failed("answers on one connection have the same id", *exchanges)


async def socket_names_lane(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The error of a request in a lane has its lane."""
    async with session.socket(endpoint) as socket:
        exchange = await socket.send({**body, LANE: "lane-1"})
    if exchange.status == 200:
        raise NotExercised("the request isn't refused")
    expect(exchange, {"refused": "validation"}, session.dialect, endpoint)
    if (lane := exchange.json.get(LANE)) != "lane-1":
        raise Failed(f"{LANE} of the error is {lane!r}, though that of the request is 'lane-1'", exchange)


async def socket_prepares(session: Session, endpoint: str, *, body: Mapping[str, Any], then: Mapping[str, Any]) -> None:
    """A request with `generate: false` gets a response without output, whose input is part of what continues it."""
    async with session.socket(endpoint) as socket:
        prepared = await socket.answered({**body, "generate": False})
        if items := items_of(prepared):
            raise Failed(f"generate is false, but the output has {len(items)} items", prepared)
        alone = await socket.answered(then)
        continued = await socket.answered({**then, "previous_response_id": id_of(prepared)})
    with about(prepared):
        _require_longer(alone, continued, "the prepared input")


def _require_longer(first: Exchange, second: Exchange, part: str) -> None:
    less, more = counted(first, "input_tokens"), counted(second, "input_tokens")
    if more <= less:
        raise Failed(f"input_tokens is {less} without {part} and {more} with it, expected more", first, second)


async def socket_refuses(
    session: Session,
    endpoint: str,
    *,
    refused: str,
    text: str | None = None,
    message: Mapping[str, Any] | None = None,
) -> None:
    """A message, `text` or the JSON object `message`, gets an error, and the connection can still be used."""
    content = json.dumps(message) if text is None else text
    async with session.socket(endpoint) as socket:
        exchange = await socket.raw(content.replace("${model}", json.dumps(session.model)[1:-1]).encode(), body=message)
        if exchange.status == 200:
            raise Failed("the message is answered like a request for a response", exchange)
        expect(exchange, {"refused": refused}, session.dialect, endpoint)
        await _require_usable(session, socket, exchange)


async def socket_reads_binary(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A binary message is answered as a text, refused with an error, or ends the connection with the code for data that
    isn't accepted."""
    filled = {"type": "response.create", "store": False, **session.filled(endpoint, body)}
    async with session.socket(endpoint) as socket:
        exchange = await socket.raw(json.dumps(filled).encode(), body=filled, binary=True)
        if exchange.status is None and socket.close_code == CloseCode.UNSUPPORTED_DATA:
            return
        if exchange.status is None or exchange.ended != "complete":
            advice = None if socket.close_code in FAULTS else OTHER_CODE
            raise Failed(
                f"a binary message is neither answered nor refused: {exchange.problem}", exchange, advice=advice
            )
        expect(exchange, {"status": [200, "4xx"]}, session.dialect, endpoint)
        await _require_usable(session, socket, exchange)


async def _require_usable(session: Session, socket: SocketSession, after: Exchange) -> None:
    with about(after):
        exchange = await socket.send(HELLO)
        if exchange.status is None:
            advice = None if session.dialect.is_exact else STAYS_OPEN
            raise Failed(
                f"after this the connection isn't usable any more: {exchange.problem}", exchange, advice=advice
            )
        require_answer(exchange)


async def socket_answers(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The request is answered with a stream."""
    async with session.socket(endpoint) as socket:
        await socket.answered(body)


async def socket_names_unsupported(
    session: Session, endpoint: str, *, body: Mapping[str, Any], fields: Sequence[str]
) -> None:
    """The headers in the first event list the fields without effect."""
    async with session.socket(endpoint) as socket:
        exchange = await socket.answered(body)
    if exchange.without_effect != frozenset(fields):
        named = ", ".join(sorted(exchange.without_effect)) or "none"
        raise Failed(f"the first event names {named} as without effect, not {', '.join(fields)}", exchange)


async def socket_needs_key(session: Session, endpoint: str, *, authorization: str = "") -> None:
    """A handshake without the right key is refused. As advice, that is before the connection opens."""
    headers, key = wrong_credentials(session, authorization)
    async with session.upgrade(endpoint, key=False, headers=headers) as (handshake, socket):
        if socket is None:
            require_key_refused(session, endpoint, handshake, key)
            return
        exchange = await socket.send(HELLO)
    if exchange.status == 200:
        raise Failed("without the right key the connection opens, and a request is answered", handshake, exchange)
    raise Failed("without the right key the connection opens", handshake, exchange, advice=REFUSED_EARLY)
