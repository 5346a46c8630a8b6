"""Prompts: what reaches the model, as far as the number of the prompt's tokens shows it, and prompts longer than the
model's context.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session, about, require_answer
from specvino.conformance.session.steps import counted, values_at
from specvino.conformance.verdict import Failed, NotExercised

# A red square of 32 by 32 pixels, as PNG.
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkA"
    "AAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC"
)


async def counts_more(
    session: Session, endpoint: str, *, body: Mapping[str, Any], than: Mapping[str, Any], by: int = 1, most: int = 5000
) -> None:
    """The prompt of `body` has at least `by` and at most `most` tokens more than that of `than`: nothing of it was
    dropped or used twice."""
    short = await session.answered(endpoint, than)
    long = await session.answered(endpoint, body)
    less, more = counted(short, "prompt_tokens"), counted(long, "prompt_tokens")
    if not by <= more - less <= most:
        expected = f"at least {by} more were" if more - less < by else f"at most {most} more were"
        message = f"prompt_tokens is {less} of the shorter prompt and {more} of the longer one; {expected} expected"
        raise Failed(message, short, long)


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
    """An image is read, or refused because the model can't read it: never dropped silently."""
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
    """A repeated word has tokens in proportion: the count of a part is right for the whole."""
    measured = []
    for count in counts:
        content = " ".join([word] * count)
        body = {"messages": [{"role": "user", "content": content}], "max_tokens": 1}
        measured.append(counted(await session.answered(endpoint, body), "prompt_tokens"))
    pairs = list(zip(counts, measured, strict=True))
    slopes = [(b - d) / (a - c) for (a, b), (c, d) in zip(pairs[1:], pairs, strict=False)]
    if min(slopes) <= 0 or max(slopes) > 1.3 * min(slopes):
        raise Failed(f"{', '.join(map(str, counts))} words have {measured} tokens", *session.exchanges)


# The fields for the size of the context in servers' lists of models.
SAID = ("max_model_len", "context_length", "context_window", "meta.n_ctx", "meta.n_ctx_train")

# The field for the size of the model's own context, which a server may have extended.
TRAINED = SAID[-1]

# Tokens above any context: a server that refuses such a limit names its own.
HUGE = 16_000_000

# The largest context for which a prompt that is too long is sent.
LONGEST = 32_768

# Words of prompts where the size of the context isn't known.
LENGTHS = (4_096, 16_384, LONGEST + 1)

NAMED = re.compile("context|token|length|long|size", re.IGNORECASE)


async def beyond_context(session: Session, endpoint: str, *, stream: bool = False) -> None:
    """A prompt that doesn't fit is refused before anything is answered, and the refusal says why."""
    size, source = await _context(session, endpoint)
    if size is None:
        await _grown(session, endpoint, stream)
        return
    if size > LONGEST:
        raise NotExercised(f"the model's context has {size} tokens; it would take a prompt of megabytes")
    exchange = await _asked(session, endpoint, size + 1, stream)
    if source == TRAINED and exchange.ok:
        raise NotExercised("the server doesn't say how long its context is, only the model's own")
    with about(exchange):
        if exchange.status is None or not 400 <= exchange.status < 500:
            came = exchange.status or exchange.problem
            raise Failed(f"a prompt of {size + 1} words is answered with {came}, though the context has {size} tokens")
        if not NAMED.search(exchange.content.decode("utf-8", "replace")):
            raise Failed("the refusal doesn't say that the prompt is too long")


async def _grown(session: Session, endpoint: str, stream: bool) -> None:
    """Sends longer and longer prompts, until one is refused."""
    for words in LENGTHS:
        exchange = await _asked(session, endpoint, words, stream)
        if exchange.status is None or exchange.status >= 500:
            came = exchange.status or exchange.problem
            raise Failed(f"a prompt of {words} words is answered with {came}", exchange)
        if exchange.status >= 400:
            return
        if exchange.is_stream and not any("choices" in chunk for chunk in exchange.chunks):
            raise Failed(f"a prompt of {words} words begins a stream that never has a chunk of an answer", exchange)
    raise NotExercised(f"the server doesn't say how long the model's context is, and takes {LENGTHS[-1]} words")


async def _asked(session: Session, endpoint: str, words: int, stream: bool) -> Exchange:
    """Raises NotExercised if the answer takes too long."""
    # A word has at least one token.
    body = {"messages": [{"role": "user", "content": "stone " * words}], "max_tokens": 1}
    exchange = await session.send(endpoint, body | ({"stream": True} if stream else {}))
    if exchange.ended == "too slow":
        raise NotExercised(f"the server did not answer a prompt of {words} words in time")
    return exchange


async def _context(session: Session, endpoint: str) -> tuple[int | None, str]:
    """Returns the model's context in tokens, None if it is unknown, and its source in the server's answers."""
    listing = await session.send("models")
    for entry in _entries(listing.json if listing.ok else None, session.model):
        for path in SAID:
            for _, value in values_at(entry, path):
                if type(value) is int and value > 0:
                    return value, path
    # Where it isn't refused, the first vowel ends the answer.
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": HUGE, "stop": ["a", "e", "i", "o"]}
    refused = await session.send(endpoint, body)
    stated = re.search(r"context\D{1,30}(\d+)", str(refused.error.get("message")))
    return (int(stated[1]) if refused.status == 400 and stated else None), "refusal"


def _entries(listing: Any, model: str) -> list[Any]:
    entries = listing.get("data") if isinstance(listing, dict) else None
    return [entry for entry in entries or () if isinstance(entry, dict) and entry.get("id") == model]
