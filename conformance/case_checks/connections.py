"""Checks of connections and concurrency: reuse, concurrent requests, disconnects."""

from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from specvino.conformance.case_checks.buffering import arrivals
from specvino.conformance.case_checks.controls import beside
from specvino.conformance.endpoints import paths
from specvino.conformance.http.client import Leaving
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session, about, require_alive, require_answer, with_ignore_eos
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
    separately = [await session.answered(to, {**body, "max_tokens": 1, "stream": False}) for body in bodies]
    exchanges = await session.together([(to, _with_usage(body)) for body in bodies])
    for body, single, exchange in zip(bodies, separately, exchanges, strict=True):
        require_answer(exchange)
        await _require_one_id(session, to, body, exchange)
        _require_same(
            exchange, len(list(outputs(exchange))), body.get("n", 1), "concurrently the answer has {} choices, not {}"
        )
        concurrent, separate = counted(exchange, "prompt_tokens"), counted(single, "prompt_tokens")
        _require_same(exchange, concurrent, separate, "concurrently its prompt has {} tokens, separately {}")
        await _require_same_model(session, to, body, exchange, _model(single))
    # Some systems' answers have no id.
    ids = [exchange.answer["id"] for exchange in exchanges if "id" in exchange.answer]
    if session.dialect.has_unique_ids and len(set(ids)) < len(ids):
        raise Failed(f"concurrent answers have the ids {', '.join(map(str, ids))}", *exchanges)


async def _require_same_model(
    session: Session, endpoint: str, body: Mapping[str, Any], exchange: Exchange, usual: Any
) -> None:
    """Raises Failed if an answer has another model than the same request has alone. Rules about streams report that
    streams have another one than other answers, as `usual` is; a gateway may choose between versions of a model."""
    if _model(exchange) == usual:
        return
    alone = partial(session.answered, endpoint, _with_usage(body))
    usual = _model(await alone())
    if _model(exchange) != usual and await is_steady(alone, _model):
        raise Failed(f"concurrently the model is {_model(exchange)}, separately {usual}", exchange)


async def concurrent_echoes_separate(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Concurrent prompts are each echoed in their own answer."""
    exchanges = await session.together([(endpoint, {**_with_usage(body), "echo": True}) for body in bodies])
    for body, exchange in zip(bodies, exchanges, strict=True):
        require_answer(exchange)
        if other := _not_begun_with(body["prompt"], exchange):
            alone = await session.answered(endpoint, {**body, "echo": True})
            together = "" if _not_begun_with(body["prompt"], alone) else "concurrently "
            raise Failed(f"{together}the prompt is {body['prompt']!r}, but the text is {other[:120]!r}", *exchanges)


def _not_begun_with(prompt: str, exchange: Exchange) -> str:
    """Returns the first text that doesn't begin with a prompt; empty if all do."""
    return next((output.text or "no text" for output in outputs(exchange) if not output.text.startswith(prompt)), "")


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


# A long answer takes as many times more controls than a small one, or its rest can't be told from chance.
TIMES_SMALL = 8

# The rounds in which the rest of an answer must be waited for.
ROUNDS = 3


async def generation_stops_on_disconnect(
    session: Session, endpoint: str, *, to: str, body: Mapping[str, Any], small: Mapping[str, Any]
) -> None:
    """After a client disconnects from a long answer, a small request doesn't wait for the rest of it. Both are measured
    by the lists of models that are answered meanwhile."""
    long = with_ignore_eos(session, to, body)
    for _ in range(ROUNDS):
        _, usual = await beside(session, session.answered(to, small))
        _, whole = await beside(session, _long(session, to, long))
        if whole.count < TIMES_SMALL * (usual.count + 1):
            during = (
                f"{whole.count} other requests were answered during a long answer, {usual.count} during a small one"
            )
            raise NotExercised(f"too few for a verdict: {during}")
        leaving = Leaving()
        sent = session.send(to, long, leaving=leaving)
        left, until = await beside(session, sent, leaving=leaving, after=whole.count // 4)
        if left.ended != "left":
            raise NotExercised("the answer's time varies too much")
        after, waited = await beside(session, session.answered(to, small))
        rest = whole.count - until.count
        if waited.count - usual.count < rest / 2:
            return
    raise Failed(
        f"a small request usually takes as long as {usual.count} lists of models, but as {waited.count} after a "
        f"disconnect from an answer that lacked {rest}: the server continues to generate",
        left,
        after,
    )


async def _long(session: Session, endpoint: str, body: Mapping[str, Any]) -> Exchange:
    """Returns a long answer, which may take long: raises NotExercised if it isn't complete in time."""
    exchange = await session.send(endpoint, body)
    if exchange.ended == "too slow":
        raise NotExercised("the server didn't complete the long answer in time")
    session.require_answered(endpoint, exchange, exchange.request.body)
    return exchange


# The fewest events of a stream during which the list of models must be answered, and how many times longer than a list
# they must take.
FEWEST = 32
TIMES_LIST = 8


async def models_listed_during_stream(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """Lists of models are answered between the events of a stream. That a list takes long in any case only prevents a
    verdict."""
    long = with_ignore_eos(session, to, {**body, "stream": True})
    for _ in range(ROUNDS):
        alone = [await session.send("models") for _ in range(ROUNDS)]
        for exchange in alone:
            require_answer(exchange)
        stream, controls = await beside(session, _long(session, to, long))
        stream.require_stream()
        came = arrivals(stream)
        first, last = (bisect(controls.answered, came[at]) for at in (0, -1))
        if last - first > 1:  # the second one was sent after the first event
            return
        quickest = min(exchange.seconds for exchange in alone)
        if len(set(came)) < FEWEST or came[-1] - came[0] < TIMES_LIST * quickest:
            raise NotExercised(f"the {len(came)} events of a long stream come too quickly for a verdict")
    raise Failed(
        f"no list of models is answered while {len(came)} events of a stream come: it waits for the model", stream
    )
