"""Checks of text completions."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.endings import shows_stop
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised


async def choices_per_prompt(session: Session, endpoint: str, *, prompts: Sequence[str], n: int = 1) -> None:
    """Each of several prompts gets n choices; choice i of prompt p has the index p * n + i. The echo shows a choice's
    prompt."""
    body = {"prompt": list(prompts), "echo": True, "max_tokens": 2, **({"n": n} if n > 1 else {})}
    exchange = await session.answered(endpoint, body)
    choices = exchange.answer.get("choices") or []
    if (indexes := sorted(choice.get("index") for choice in choices)) != list(range(len(prompts) * n)):
        raise Failed(f"the indexes for {len(prompts)} prompts with {n} choices each are {indexes}", exchange)
    for choice in choices:
        prompt = prompts[choice["index"] // n]
        if not str(choice.get("text")).startswith(prompt):
            raise Failed(
                f"choice {choice['index']} belongs to the prompt {prompt!r}, but its text is {choice.get('text')!r}",
                exchange,
            )


async def prompts_equivalent(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """The prompts of all bodies have the same number of tokens."""
    counts = [counted(await session.answered(endpoint, body), "prompt_tokens") for body in bodies]
    if len(set(counts)) > 1:
        raise Failed(f"equivalent prompts have {', '.join(map(str, counts))} tokens", *session.exchanges)


async def usage_of_prompts(session: Session, endpoint: str, *, prompts: Sequence[str]) -> None:
    """Usage counts the tokens of all prompts: the sum of the separate counts."""
    separate = [await session.answered(endpoint, {"prompt": prompt, "max_tokens": 1}) for prompt in prompts]
    several = await session.answered(endpoint, {"prompt": list(prompts), "max_tokens": 1})
    expected, together = (
        sum(counted(exchange, "prompt_tokens") for exchange in separate),
        counted(several, "prompt_tokens"),
    )
    if together != expected:
        raise Failed(f"prompt_tokens is {expected} in separate requests, but {together} in one", several)


async def same_completion_repeated(
    session: Session, endpoint: str, *, body: Mapping[str, Any], other: Mapping[str, Any]
) -> None:
    """The same request returns the same text again, and so does an equivalent one."""
    first, second = await session.answered(endpoint, body), await session.answered(endpoint, body)
    if _texts(first) != _texts(second):
        raise Failed(f"the same request returns first {_texts(first)}, then {_texts(second)}", first, second)
    third = await session.answered(endpoint, {**body, **other})
    if _texts(first) != _texts(third):
        raise Failed(f"the text is {_texts(first)}, but with {dict(other)} it is {_texts(third)}", first, third)


async def completion_stop_truncates(session: Session, endpoint: str, *, body: Mapping[str, Any], listed: bool) -> None:
    """A stop string from the middle of an answer truncates the same answer before it."""
    full = await session.answered(endpoint, body)
    text = _texts(full)[0]
    stop = text[len(text) // 2 :][:3]
    if len(stop) < 3 or not stop.strip() or "\ufffd" in stop:
        raise NotExercised(f"no part of {text!r} is suitable as a stop string")
    before = text[: text.index(stop)]
    exchange = await session.answered(endpoint, {**body, "stop": ["never said", stop] if listed else stop})
    if stop in _texts(exchange)[0]:
        raise Failed(shows_stop(stop, _texts(exchange)[0]), exchange)
    if _texts(exchange)[0] == before:
        if (reason := exchange.answer["choices"][0].get("finish_reason")) != "stop":
            raise Failed(f"a stop string ended the answer, but finish_reason is {reason!r}", full, exchange)
        return
    if _texts(await session.answered(endpoint, body)) != _texts(full):
        raise NotExercised("the server's answers to the same request differ, so they can't be compared")
    raise Failed(
        f"the text is {text!r}, but with the stop string {stop!r} it is {_texts(exchange)[0]!r}", full, exchange
    )


async def ignored_field_reported(session: Session, endpoint: str, *, body: Mapping[str, Any], field: str) -> None:
    """A field without effect is in X-Unsupported-Params, or refused: never ignored silently."""
    exchange = await session.send(endpoint, body)
    if exchange.status == 400 and exchange.error.get("param") == field:
        return
    names = exchange.headers.get("x-unsupported-params", "").split(",")
    if not exchange.ok or field not in [name.strip() for name in names]:
        raise Failed(f"{field} has no effect, but X-Unsupported-Params is {','.join(names)!r}", exchange)


def _texts(exchange: Exchange) -> list[str]:
    return [output.text for output in outputs(exchange)]
