"""Checks of text completions."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed


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


async def ignored_field_reported(session: Session, endpoint: str, *, body: Mapping[str, Any], field: str) -> None:
    """A field without effect is in X-Unsupported-Params, or refused: never ignored silently."""
    exchange = await session.send(endpoint, body)
    if exchange.status == 400 and exchange.error.get("param") == field:
        return
    names = exchange.headers.get("x-unsupported-params", "").split(",")
    if not exchange.ok or field not in [name.strip() for name in names]:
        raise Failed(f"{field} has no effect, but X-Unsupported-Params is {','.join(names)!r}", exchange)
