"""Text completions."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.endings import shows_stop
from specvino.conformance.rules.outputs import outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised


async def prompts_in_order(session: Session, endpoint: str, *, prompts: Sequence[str], n: int = 1) -> None:
    """Each of several prompts gets n choices; choice i of prompt p has the index p * n + i. Its echo shows which prompt
    a choice is for."""
    body = {"prompt": list(prompts), "echo": True, "max_tokens": 2, **({"n": n} if n > 1 else {})}
    exchange = await session.answered(endpoint, body)
    choices = exchange.answer.get("choices") or []
    if (indexes := sorted(choice.get("index") for choice in choices)) != list(range(len(prompts) * n)):
        raise Failed(f"{len(prompts)} prompts with {n} choices each give the indexes {indexes}", exchange)
    for choice in choices:
        prompt = prompts[choice["index"] // n]
        if not str(choice.get("text")).startswith(prompt):
            raise Failed(f"choice {choice['index']} is for {prompt!r}, but reads {choice.get('text')!r}", exchange)


async def counted_alike(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """The prompts of all these bodies have as many tokens as the first."""
    counts = [counted(await session.answered(endpoint, body), "prompt_tokens") for body in bodies]
    if len(set(counts)) > 1:
        raise Failed(f"prompts that are the same have {', '.join(map(str, counts))} tokens", *session.exchanges)


async def prompts_counted(session: Session, endpoint: str, *, prompts: Sequence[str]) -> None:
    """Usage counts the tokens of all prompts: as many as when each is alone."""
    alone = [await session.answered(endpoint, {"prompt": prompt, "max_tokens": 1}) for prompt in prompts]
    several = await session.answered(endpoint, {"prompt": list(prompts), "max_tokens": 1})
    expected, together = (
        sum(counted(exchange, "prompt_tokens") for exchange in alone),
        counted(several, "prompt_tokens"),
    )
    if together != expected:
        raise Failed(f"alone the prompts have {expected} tokens, together {together}", several)


async def repeated(session: Session, endpoint: str, *, body: Mapping[str, Any], other: Mapping[str, Any]) -> None:
    """The same request gives the same text again, and so does an equivalent one."""
    first, second = await session.answered(endpoint, body), await session.answered(endpoint, body)
    if _texts(first) != _texts(second):
        raise Failed(f"the same request gives {_texts(first)} and then {_texts(second)}", first, second)
    third = await session.answered(endpoint, {**body, **other})
    if _texts(first) != _texts(third):
        raise Failed(f"the text is {_texts(first)}, but with {dict(other)} {_texts(third)}", first, third)


async def cut_at_stop(session: Session, endpoint: str, *, body: Mapping[str, Any], listed: bool) -> None:
    """A stop string from the middle of an answer ends the same answer before it."""
    whole = await session.answered(endpoint, body)
    text = _texts(whole)[0]
    stop = text[len(text) // 2 :][:3]
    if len(stop) < 3 or not stop.strip() or "\ufffd" in stop:
        raise NotExercised(f"nothing in {text!r} would do as a stop text")
    before = text[: text.index(stop)]
    exchange = await session.answered(endpoint, {**body, "stop": ["never said", stop] if listed else stop})
    if stop in _texts(exchange)[0]:
        raise Failed(shows_stop(stop, _texts(exchange)[0]), exchange)
    if _texts(exchange)[0] == before:
        if (reason := exchange.answer["choices"][0].get("finish_reason")) != "stop":
            raise Failed(f"a stop text ended the answer, but finish_reason is {reason!r}", whole, exchange)
        return
    if _texts(await session.answered(endpoint, body)) != _texts(whole):
        raise NotExercised("the server answers the same request differently each time, so that nothing can be compared")
    raise Failed(f"the text is {text!r}, but with the stop text {stop!r} {_texts(exchange)[0]!r}", whole, exchange)


async def told(session: Session, endpoint: str, *, body: Mapping[str, Any], field: str) -> None:
    """A field that has no effect is reported in X-Unsupported-Params, or refused: never dropped silently."""
    exchange = await session.send(endpoint, body)
    if exchange.status == 400 and exchange.error.get("param") == field:
        return
    names = exchange.headers.get("x-unsupported-params", "").split(",")
    if not exchange.ok or field not in [name.strip() for name in names]:
        raise Failed(f"{field} has no effect, but X-Unsupported-Params is {','.join(names)!r}", exchange)


def _texts(exchange: Exchange) -> list[str]:
    return [output.text for output in outputs(exchange)]
