"""Several choices, and what an answer says of itself."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session
from specvino.conformance.rules.outputs import has_reasoning, outputs
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
    """There are n choices with the indexes from 0, and each has an end."""
    exchange = await session.answered(endpoint, {**body, "n": n, **({"stream": True} if stream else {})})
    found = exchange.answer.get("choices") or []
    indexes = [choice.get("index") for choice in found]
    if indexes != list(range(n)):
        raise Failed(f"{n} choices were asked for; those that came have the indexes {indexes}", exchange)
    for choice in found:
        if not choice.get("finish_reason"):
            raise Failed(f"choice {choice['index']} has no finish_reason", exchange)


async def drawn_apart(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int) -> None:
    """Several choices aren't one text n times, twice in a row."""
    exchanges = [await session.answered(endpoint, {**body, "n": n}) for _ in range(2)]
    for exchange in exchanges:
        texts = [output.reasoning + output.text for output in outputs(exchange)]
        if len(texts) < n:
            raise NotExercised("there are fewer choices than were asked for")
        if len(set(texts)) > 1:
            return
    raise Failed(f"all {n} choices are {texts[0][:120]!r}", *exchanges)


async def choices_counted(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int) -> None:
    """The tokens of all choices count, those of the prompt once."""
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
    """An answer names the model as the request does, streamed or not: logs and bills are kept by it."""
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        if exchange.answer.get("model") != session.model:
            raise Failed(f"{session.model!r} was asked, and {exchange.answer.get('model')!r} answers", exchange)
