"""Several requests at the same time."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session, require_answer
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.verdict import Failed


async def each_its_own(session: Session, endpoint: str, *, to: str, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Requests at the same time get each the answer to their own: as many choices as it asks for, and as many tokens
    counted in its prompt as when it is alone."""
    alone = [await session.answered(to, {**body, "max_tokens": 1, "stream": False}) for body in bodies]
    exchanges = await session.together([(to, _with_usage(body)) for body in bodies])
    for body, single, exchange in zip(bodies, alone, exchanges, strict=True):
        require_answer(exchange)
        await _require_one_id(session, to, body, exchange)
        _require_same(exchange, len(list(outputs(exchange))), body.get("n", 1), "the answer has {} choices, not {}")
        among, before = counted(exchange, "prompt_tokens"), counted(single, "prompt_tokens")
        _require_same(exchange, among, before, "among others its prompt has {} tokens, alone {}")
        model = exchange.answer.get("model")
        _require_same(exchange, model, single.answer.get("model"), "among others the model is {}, alone {}")
    # Not all systems give one.
    ids = [exchange.answer["id"] for exchange in exchanges if "id" in exchange.answer]
    if len(set(ids)) < len(ids):
        raise Failed(f"answers at the same time have the ids {', '.join(map(str, ids))}", *exchanges)


async def echoed_together(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Prompts at the same time come back each before its own answer."""
    exchanges = await session.together([(endpoint, {**_with_usage(body), "echo": True}) for body in bodies])
    for body, exchange in zip(bodies, exchanges, strict=True):
        require_answer(exchange)
        for output in outputs(exchange):
            if not output.text.startswith(body["prompt"]):
                raise Failed(f"the prompt is {body['prompt']!r}, but the text {output.text[:120]!r}", *exchanges)


def _with_usage(body: Mapping[str, Any]) -> dict[str, Any]:
    return {**body, "stream_options": {"include_usage": True}} if body.get("stream") else dict(body)


async def _require_one_id(session: Session, endpoint: str, body: Mapping[str, Any], exchange: Exchange) -> None:
    """Raises Failed for a stream with pieces of several answers. A server that gives each chunk an id of its own does
    so for a stream alone, too, which is for the rule about the order of streams."""
    ids = _ids(exchange)
    if len(ids) > 1 and len(_ids(await session.answered(endpoint, _with_usage(body)))) == 1:
        raise Failed(
            f"the chunks of one stream have {len(ids)} different ids, those of a stream alone have one", exchange
        )


def _ids(exchange: Exchange) -> set[Any]:
    return {chunk.get("id") for chunk in exchange.chunks if "error" not in chunk}


def _require_same(exchange: Exchange, one: Any, other: Any, says: str) -> None:
    if one != other:
        raise Failed(says.format(one, other), exchange)
