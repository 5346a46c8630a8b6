"""Checks of choices and sampling."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from specvino.conformance.case_checks.stops import fields_without_effect
from specvino.conformance.endpoints import with_value
from specvino.conformance.rules.outputs import has_reasoning, outputs, texts
from specvino.conformance.session.session import Session
from specvino.conformance.session.steadiness import DRAWN, ROUNDS, differing, is_steady
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable
from specvino.document.conditions import value_at


async def answer_not_empty(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The assistant answers a question with text, or with reasoning."""
    exchange = await session.answered(endpoint, body)
    all_outputs = list(outputs(exchange))
    if len(all_outputs) != 1:
        raise Failed(f"there are {len(all_outputs)} choices, not 1", exchange)
    output = all_outputs[0]
    if output.reason not in ("stop", "length"):
        raise Failed(f"finish_reason is {output.reason!r}, neither stop nor length", exchange)
    if not output.text and not has_reasoning(exchange, output):
        raise Failed("the answer is empty", exchange)


async def choices_indexed(
    session: Session, endpoint: str, *, body: Mapping[str, Any], n: int, stream: bool = False
) -> None:
    """There are n choices, with indexes from 0, each with a finish_reason."""
    exchange = await session.answered(endpoint, {**body, "n": n, **({"stream": True} if stream else {})})
    all_choices = exchange.answer.get("choices") or []
    indexes = [choice.get("index") for choice in all_choices]
    if indexes != list(range(n)):
        raise Failed(f"{n} choices were requested, but the indexes are {indexes}", exchange)
    for choice in all_choices:
        if not choice.get("finish_reason"):
            raise Failed(f"choice {choice['index']} has no finish_reason", exchange)


async def choices_differ(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int) -> None:
    """With sampling, n choices aren't all the same text, in several answers in a row."""
    for _ in range(ROUNDS):
        exchange = await session.answered(endpoint, {**body, "n": n})
        drawn = texts(exchange)
        if len(drawn) < n:
            raise NotExercised("there are fewer choices than requested")
        if len(set(drawn)) > 1:
            return
    raise Failed(f"all {n} choices are {drawn[0][:120]!r}", exchange)


async def usage_of_choices(session: Session, endpoint: str, *, body: Mapping[str, Any], n: int) -> None:
    """Usage counts the tokens of all choices, and the prompt once."""
    one = await session.answered(endpoint, body)
    several = await session.answered(endpoint, {**body, "n": n})
    before, after = counted(one, "prompt_tokens"), counted(several, "prompt_tokens")
    if before != after:
        raise Failed(f"prompt_tokens is {before} without n, but {after} with n: {n}", one, several)
    limit = body["max_tokens"]
    if any(output.reason != "length" for output in outputs(several)):
        raise Unsuitable("a choice ended before its limit, so its number of tokens is unknown")
    if (completion_tokens := counted(several, "completion_tokens")) != n * limit:
        raise Failed(f"completion_tokens is {completion_tokens} for {n} choices of {limit} tokens", several)


async def model_name_returned(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Answers have the model's name as requested, streamed or not: logs and billing use it."""
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        if exchange.answer.get("model") != session.model:
            raise Failed(
                f"the request's model is {session.model!r}, but the answer's is {exchange.answer.get('model')!r}",
                exchange,
            )


async def same_answer_repeated(
    session: Session, endpoint: str, *, body: Mapping[str, Any], other: Mapping[str, Any] | None = None
) -> None:
    """The same request gives the same answer; and so does one with the fields of `other`. If a server draws its answers
    at temperature 0, too, nothing else can prevent it."""
    ask = partial(session.answered, endpoint, body)
    if answers := await differing(ask, texts):
        field = "options.temperature" if "options" in body else "temperature"
        drawn = value_at(body, field) != 0 and await differing(
            partial(session.answered, endpoint, with_value(body, field, 0)), texts
        )
        if drawn:
            raise NotExercised("the server draws its answers whatever the request says")
        first, last = answers[0], answers[-1]
        raise Failed(f"identical requests return {texts(first)!r} and {texts(last)!r}", first, last)
    if other is not None:
        await fields_without_effect(session, endpoint, body=body, other=other)


async def field_has_effect(
    session: Session, endpoint: str, *, body: Mapping[str, Any], field: str, values: Sequence[Any]
) -> None:
    """A field with any of these values changes the answer, or the server reports that the field has no effect."""
    ask = partial(session.answered, endpoint, body)
    without = await ask()
    answers = [await session.answered(endpoint, {**body, field: value}) for value in values]
    if any(field in exchange.without_effect for exchange in answers):
        return
    if not await is_steady(ask, texts):
        raise NotExercised(DRAWN)
    if all(texts(exchange) == texts(without) for exchange in answers):
        raise Failed(f"{field} has no effect on the answer {texts(without)!r}", without, *answers)


async def ignore_eos_reaches_limit(session: Session, endpoint: str, *, body: Mapping[str, Any], tokens: int) -> None:
    """With ignore_eos, an answer ends at its limit."""
    exchange = await session.answered(endpoint, {**body, "max_tokens": tokens, "ignore_eos": True})
    completion_tokens, reason = counted(exchange, "completion_tokens"), next(outputs(exchange)).reason
    if completion_tokens != tokens or reason != "length":
        raise Failed(f"finish_reason is {reason!r} after {completion_tokens} of {tokens} tokens", exchange)
