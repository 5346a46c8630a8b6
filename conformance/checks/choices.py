"""Choices and sampling: how many answers a request gets, and how their tokens are chosen."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised


async def says_something(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A question is answered by the assistant, with a text or with reasoning that comes before it."""
    exchange = await session.answered(endpoint, body)
    found = list(outputs(exchange))
    if len(found) != 1:
        raise Failed(f"there are {len(found)} choices, not 1", exchange)
    if found[0].reason not in ("stop", "length"):
        raise Failed(f"finish_reason is {found[0].reason!r}, neither stop nor length", exchange)
    if not found[0].text and not has_reasoning(exchange, found[0]):
        raise Failed("the answer says nothing", exchange)


async def choices(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int, stream: bool = False) -> None:
    """There are n choices with indexes from 0, and each has a finish_reason."""
    exchange = await session.answered(endpoint, {**body, "n": n, **({"stream": True} if stream else {})})
    found = exchange.answer.get("choices") or []
    indexes = [choice.get("index") for choice in found]
    if indexes != list(range(n)):
        raise Failed(f"{n} choices were asked for; those that came have the indexes {indexes}", exchange)
    for choice in found:
        if not choice.get("finish_reason"):
            raise Failed(f"choice {choice['index']} has no finish_reason", exchange)


async def drawn_apart(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int) -> None:
    """Several choices aren't the same text n times, in two answers in a row."""
    exchanges = [await session.answered(endpoint, {**body, "n": n}) for _ in range(2)]
    for exchange in exchanges:
        texts = [output.reasoning + output.text for output in outputs(exchange)]
        if len(texts) < n:
            raise NotExercised("there are fewer choices than were asked for")
        if len(set(texts)) > 1:
            return
    raise Failed(f"all {n} choices are {texts[0][:120]!r}", *exchanges)


async def choices_counted(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int) -> None:
    """Usage counts the tokens of all choices, and those of the prompt once."""
    one = await session.answered(endpoint, body)
    several = await session.answered(endpoint, {**body, "n": n})
    before, after = counted(one, "prompt_tokens"), counted(several, "prompt_tokens")
    if before != after:
        raise Failed(f"the prompt has {before} tokens, with n {n} {after}", one, several)
    limit = body["max_tokens"]
    if any(output.reason != "length" for output in outputs(several)):
        raise NotExercised("a choice ended before its limit, so that its tokens can't be counted")
    if (made := counted(several, "completion_tokens")) != n * limit:
        raise Failed(f"{n} choices of {limit} tokens are counted as {made}", several)


async def model_echoed(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """An answer names the model as the request does, streamed or not: logs and billing use it."""
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        if exchange.answer.get("model") != session.model:
            raise Failed(f"{session.model!r} was asked, and {exchange.answer.get('model')!r} answers", exchange)


async def steady(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The same request gives the same answer. A server whose floating-point sums depend on its other work may change a
    token now and then: only three different answers to three requests show that the field is ignored."""
    exchanges: list[Exchange] = []
    for _ in range(3):
        exchanges.append(await session.answered(endpoint, body))
        answers = [_texts(exchange) for exchange in exchanges]
        if any(answers.count(answer) > 1 for answer in answers):
            return
    raise Failed(f"three requests that are the same give {', '.join(map(repr, answers))}", *exchanges)


async def steered(
    session: Session, endpoint: str, *, body: Mapping[str, Any], field: str, values: Sequence[Any]
) -> None:
    """A field with any of these values, each of which must affect the answer, gives another answer than without it; or
    the server reports that it has no effect."""
    without = await session.answered(endpoint, body)
    answers = [await session.answered(endpoint, {**body, field: value}) for value in values]
    if any(_texts(exchange) != _texts(without) or field in exchange.without_effect for exchange in answers):
        return
    raise Failed(f"{field} changes nothing about the answer {_texts(without)!r}", without, *answers)


async def unending_answer(session: Session, endpoint: str, *, body: Mapping[str, Any], tokens: int) -> None:
    """With ignore_eos, an answer ends at its limit."""
    exchange = await session.answered(endpoint, {**body, "max_tokens": tokens, "ignore_eos": True})
    made, reason = counted(exchange, "completion_tokens"), next(outputs(exchange)).reason
    if made != tokens or reason != "length":
        raise Failed(f"it ended by {reason!r} after {made} of {tokens} tokens", exchange)


def _texts(exchange: Exchange) -> list[str]:
    return [output.reasoning + output.text for output in outputs(exchange)]
