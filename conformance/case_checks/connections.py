"""Checks of connections and concurrency: reuse, concurrent requests, disconnects."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session, about, require_alive, require_answer
from specvino.conformance.session.steadiness import is_steady
from specvino.conformance.session.steps import counted, expect
from specvino.conformance.verdict import Advice, Failed, NotExercised

# The size of a body, in bytes, that no server has read completely by chance when it refuses it.
LARGE = 300_000


UNANNOUNCED = Advice(
    "A server should announce that it closes a connection: a client that already sends the next request loses it.",
    "https://www.rfc-editor.org/rfc/rfc9112#section-9.6",
)


async def connection_reused(
    session: Session, endpoint: str, *, body: Mapping[str, Any], refused: str | None = None
) -> None:
    """After an answer, or after this refusal, the same connection answers the next request."""
    async with session.one_connection() as single:
        first = await single.send("chat", body)
        if refused is None:
            require_answer(first)
        elif first.ok:
            raise NotExercised("the request isn't refused")
        else:
            expect(first, {"refused": refused}, session.dialect, "chat")
        await _require_next(single, first)


async def connection_reused_after_unread_body(session: Session, endpoint: str, *, path: str) -> None:
    """A long body that the server doesn't read isn't parsed as the next request."""
    async with session.one_connection() as single:
        first = await single.raw("POST", path, content=b'{"text": "' + b"G" * LARGE + b'"}')
        # The server may check the path or the size first.
        expect(first, {"refused": ["unknown_route", "too_large"]}, session.dialect, "chat")
        await _require_next(single, first)


async def _require_next(single: Session, first: Exchange) -> None:
    with about(first):
        second = await single.raw("GET", paths()["models"], endpoint="models")
        require_alive(second)
    if first.connection and second.connection and first.connection != second.connection:
        raise Failed("the connection was closed after an answer without Connection: close", first, advice=UNANNOUNCED)


async def concurrent_answers_separate(
    session: Session, endpoint: str, *, to: str, bodies: Sequence[Mapping[str, Any]]
) -> None:
    """Concurrent requests get their own answers: the requested number of choices, and the same prompt tokens and model
    as separately."""
    asks = [partial(session.answered, to, {**body, "max_tokens": 1, "stream": False}) for body in bodies]
    separately = [await ask() for ask in asks]
    exchanges = await session.together([(to, _with_usage(body)) for body in bodies])
    for body, ask, single, exchange in zip(bodies, asks, separately, exchanges, strict=True):
        require_answer(exchange)
        await _require_one_id(session, to, body, exchange)
        _require_same(
            exchange, len(list(outputs(exchange))), body.get("n", 1), "concurrently the answer has {} choices, not {}"
        )
        concurrent, separate = counted(exchange, "prompt_tokens"), counted(single, "prompt_tokens")
        _require_same(exchange, concurrent, separate, "concurrently its prompt has {} tokens, separately {}")
        model, usual = _model(exchange), _model(single)
        # A gateway may choose between versions of a model.
        if model != usual and await is_steady(ask, _model):
            raise Failed(f"concurrently the model is {model}, separately {usual}", exchange)
    # Some systems' answers have no id.
    ids = [exchange.answer["id"] for exchange in exchanges if "id" in exchange.answer]
    if session.dialect.has_unique_ids and len(set(ids)) < len(ids):
        raise Failed(f"concurrent answers have the ids {', '.join(map(str, ids))}", *exchanges)


async def concurrent_echoes_separate(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Concurrent prompts are each echoed in their own answer."""
    exchanges = await session.together([(endpoint, {**_with_usage(body), "echo": True}) for body in bodies])
    for body, exchange in zip(bodies, exchanges, strict=True):
        require_answer(exchange)
        for output in outputs(exchange):
            if not output.text.startswith(body["prompt"]):
                raise Failed(
                    f"concurrently the prompt is {body['prompt']!r}, but the text is {output.text[:120]!r}", *exchanges
                )


def _model(exchange: Exchange) -> Any:
    return exchange.answer.get("model")


def _with_usage(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**body, "stream_options": {"include_usage": True}} if body.get("stream") else dict(body)


async def _require_one_id(session: Session, endpoint: str, body: Mapping[str, Any], exchange: Exchange) -> None:
    """Raises Failed for a stream with chunks of several answers. The stream order reports servers that give each chunk
    its own id."""
    ids = _ids(exchange)
    if len(ids) > 1 and len(_ids(await session.answered(endpoint, _with_usage(body)))) == 1:
        raise Failed(
            f"the chunks of a stream have {len(ids)} different ids with concurrent requests, one without", exchange
        )


def _ids(exchange: Exchange) -> set[Any]:
    return {chunk.get("id") for chunk in exchange.chunks if "error" not in chunk}


def _require_same(exchange: Exchange, actual: Any, expected: Any, message: str) -> None:
    if actual != expected:
        raise Failed(message.format(actual, expected), exchange)


# The shortest complete answer, in seconds, whose times are above the noise of a busy machine.
MIN_SECONDS = 0.4

# The smallest ratio of its time to that of a small answer.
MIN_RATIO = 6

IGNORE_EOS = "/components/schemas/CreateChatCompletionRequest/properties/ignore_eos"


async def generation_stops_on_disconnect(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], small: Mapping[str, Any]
) -> None:
    """After a client disconnects from a long answer, a small request waits less than half of the remaining time, by
    this server's own measured times."""
    long = with_ignore_eos(session, to, body)
    quick = await _usual_seconds(session, to, small)
    complete = (await session.answered(to, long)).seconds
    if complete < MIN_SECONDS or complete < MIN_RATIO * quick:
        raise NotExercised(
            f"the long answer takes {complete:.2f} s, a small one {quick:.2f} s: too similar for a measurement"
        )
    for _ in range(2):  # twice, since the machine may have been busy
        begun = time.monotonic()
        gone = await session.send(to, long, leave_at=complete / 5)
        if gone.ended != "left":
            raise NotExercised("the answer's time varies too much")
        rest = complete - (time.monotonic() - begun)
        begun = time.monotonic()
        after = await session.answered(to, small)
        waited = time.monotonic() - begun - quick
        if waited < rest / 2:
            return
    raise Failed(
        f"after a disconnect {rest:.2f} s before the end of an answer, a small request took {waited:.2f} s longer than "
        f"its usual {quick:.2f} s: the server continues to generate",
        gone,
        after,
    )


async def models_listed_during_stream(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """During a stream, the list of models is answered before the stream ends."""
    long = with_ignore_eos(session, to, {**body, "stream": True})
    for _ in range(2):
        running = asyncio.create_task(session.send(to, long))
        exchanges = [await session.send("models")]
        while not running.done() and len(exchanges) < 5:
            exchanges.append(await session.send("models"))
        stream = await running
        for exchange in (stream, *exchanges):
            require_answer(exchange)
        slowest = max(exchanges, key=lambda exchange: exchange.seconds)
        if stream.seconds < MIN_SECONDS:
            raise NotExercised(f"a long stream takes only {stream.seconds:.2f} s: too short for a measurement")
        if slowest.seconds < stream.seconds / 2:
            return
    raise Failed(
        f"GET /models took {slowest.seconds:.2f} s during a stream of {stream.seconds:.2f} s: it waits for the model",
        stream,
        slowest,
    )


def with_ignore_eos(session: Session, endpoint: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the body with ignore_eos, if the dialect supports it, so that the answer reaches its limit."""
    ignores = session.dialect.level(IGNORE_EOS, "chat") == "full"
    has_field = "ignore_eos" in session.dialect.fields(paths()[endpoint])
    return {**body, **({"ignore_eos": True} if ignores and has_field else {})}


async def _usual_seconds(session: Session, endpoint: str, body: Mapping[str, Any]) -> float:
    """Returns the seconds of a small request, after a first one."""
    await session.answered(endpoint, body)
    return (await session.answered(endpoint, body)).seconds
