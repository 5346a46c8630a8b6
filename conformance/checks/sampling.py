"""Sampling: how tokens are chosen."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.verdict import Failed


async def steady(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The same request gives the same answer. A server whose sums depend on its other work may flip a token now and
    then: only three different answers to three requests say that it takes no notice."""
    exchanges: list[Exchange] = []
    for _ in range(3):
        exchanges.append(await session.answered(endpoint, body))
        answers = [_texts(each) for each in exchanges]
        if any(answers.count(each) > 1 for each in answers):
            return
    raise Failed(f"three requests that are the same give {', '.join(map(repr, answers))}", *exchanges)


async def steered(
    session: Session, endpoint: str, *, body: Mapping[str, Any], field: str, values: Sequence[Any]
) -> None:
    """A field with any of these values, each of which a model must feel, makes another answer than without it; or the
    server says that it has no effect."""
    without = await session.answered(endpoint, body)
    answers = [await session.answered(endpoint, {**body, field: value}) for value in values]
    if any(_texts(each) != _texts(without) or field in each.without_effect for each in answers):
        return
    raise Failed(f"{field} changes nothing about the answer {_texts(without)!r}", without, *answers)


async def unending_answer(session: Session, endpoint: str, *, body: Mapping[str, Any], tokens: int) -> None:
    """Where the model's end of turn is ignored, an answer ends at its limit."""
    exchange = await session.answered(endpoint, {**body, "max_tokens": tokens, "ignore_eos": True})
    made, reason = counted(exchange, "completion_tokens"), next(outputs(exchange)).reason
    if made != tokens or reason != "length":
        raise Failed(f"it ended by {reason!r} after {made} of {tokens} tokens", exchange)


def _texts(exchange: Exchange) -> list[str]:
    return [output.reasoning + output.text for output in outputs(exchange)]
