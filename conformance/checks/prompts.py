"""Prompts: what reaches the model, as far as the number of the prompt's tokens shows it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session, paths, require_answer
from specvino.conformance.verdict import Failed

# A red square of 32 by 32 pixels, as PNG.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkA"
    "AAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC"
)


async def counts_more(
    session: Session, endpoint: str, *, body: Mapping[str, Any], than: Mapping[str, Any], by: int = 1, most: int = 5000
) -> None:
    """The prompt of `body` has at least `by` tokens more than that of `than`, and at most so many more: nothing of it
    was dropped, or taken twice."""
    short = await session.answered(endpoint, than)
    long = await session.answered(endpoint, body)
    less, more = counted(short, "prompt_tokens"), counted(long, "prompt_tokens")
    if not by <= more - less <= most:
        expected = f"at least {by} more were" if more - less < by else f"at most {most} more were"
        told = f"prompt_tokens is {less} of the shorter prompt and {more} of the longer one; {expected} expected"
        raise Failed(told, short, long)


async def escaped_alike(session: Session, endpoint: str, *, text: str) -> None:
    """JSON with escapes (`\\ud83d\\ude42`) and with the characters themselves is the same prompt."""
    body = {"model": session.model, "messages": [{"role": "user", "content": text}], "max_tokens": 1}
    counts = []
    for ascii_only in (False, True):
        content = json.dumps(body, ensure_ascii=ascii_only).encode()
        exchange = await session.raw("POST", paths()[endpoint], endpoint=endpoint, content=content, body=body)
        require_answer(exchange)
        counts.append(counted(exchange, "prompt_tokens"))
    if counts[0] != counts[1]:
        raise Failed(f"the prompt has {counts[0]} tokens, but {counts[1]} where it is escaped", *session.exchanges)


async def picture(session: Session, endpoint: str, *, text: str) -> None:
    """An image is read, or refused because the model can't: never left out in silence."""
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    with_image = [{"type": "text", "text": text}, part]
    exchange = await session.send(endpoint, {"messages": [{"role": "user", "content": with_image}], "max_tokens": 1})
    if exchange.status is not None and 400 <= exchange.status < 500:
        return  # the shape of errors is checked for all
    if exchange.status is not None and exchange.status >= 500:
        raise Failed(f"an image that can't be read is to be refused, but the status is {exchange.status}", exchange)
    require_answer(exchange)
    plain = await session.answered(endpoint, {"messages": [{"role": "user", "content": text}], "max_tokens": 1})
    if counted(exchange, "prompt_tokens") <= counted(plain, "prompt_tokens"):
        raise Failed(
            f"the image adds nothing to the prompt of {counted(plain, 'prompt_tokens')} tokens", plain, exchange
        )


async def usage_grows(session: Session, endpoint: str, *, word: str, counts: Sequence[int]) -> None:
    """A word that is repeated takes tokens in proportion: what was counted for a part is right for the whole."""
    measured = []
    for count in counts:
        content = " ".join([word] * count)
        body = {"messages": [{"role": "user", "content": content}], "max_tokens": 1}
        measured.append(counted(await session.answered(endpoint, body), "prompt_tokens"))
    pairs = list(zip(counts, measured, strict=True))
    slopes = [(b - d) / (a - c) for (a, b), (c, d) in zip(pairs[1:], pairs, strict=False)]
    if min(slopes) <= 0 or max(slopes) > 1.3 * min(slopes):
        raise Failed(f"{', '.join(map(str, counts))} words have {measured} tokens", *session.exchanges)
