"""Checks of prompts: parts reach the model, as token counts show, and prompts beyond the context are refused."""

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


async def prompt_tokens_increase(
    session: Session, endpoint: str, *, body: Mapping[str, Any], than: Mapping[str, Any], by: int = 1, most: int = 5000
) -> None:
    """The prompt of `body` has between `by` and `most` more tokens than that of `than`: no part of it was dropped or
    duplicated."""
    short = await session.answered(endpoint, than)
    long = await session.answered(endpoint, body)
    less, more = counted(short, "prompt_tokens"), counted(long, "prompt_tokens")
    if not by <= more - less <= most:
        expected = f"at least {by} more" if more - less < by else f"at most {most} more"
        message = f"prompt_tokens is {less} for the shorter prompt and {more} for the longer one, expected {expected}"
        raise Failed(message, short, long)


async def json_escapes_equivalent(session: Session, endpoint: str, *, text: str) -> None:
    r"""JSON with escapes (`\ud83d\ude42`) and with the characters themselves is the same prompt."""
    body = {"model": session.model, "messages": [{"role": "user", "content": text}], "max_tokens": 1}
    counts = []
    for ascii_only in (False, True):
        content = json.dumps(body, ensure_ascii=ascii_only).encode()
        exchange = await session.raw("POST", paths()[endpoint], endpoint=endpoint, content=content, body=body)
        require_answer(exchange)
        counts.append(counted(exchange, "prompt_tokens"))
    if counts[0] != counts[1]:
        raise Failed(f"prompt_tokens is {counts[0]}, but {counts[1]} with escapes", *session.exchanges)


async def image_read_or_refused(session: Session, endpoint: str, *, text: str) -> None:
    """An image is read, or refused if the model can't read images: never dropped silently."""
    part = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    with_image = [{"type": "text", "text": text}, part]
    exchange = await session.send(endpoint, {"messages": [{"role": "user", "content": with_image}], "max_tokens": 1})
    if exchange.status is not None and 400 <= exchange.status < 500:
        return  # error-envelope checks the error
    if exchange.status is not None and exchange.status >= 500:
        raise Failed(f"an unsupported image must be refused with a 4xx, but the status is {exchange.status}", exchange)
    require_answer(exchange)
    plain = await session.answered(endpoint, {"messages": [{"role": "user", "content": text}], "max_tokens": 1})
    if counted(exchange, "prompt_tokens") <= counted(plain, "prompt_tokens"):
        raise Failed(
            f"the image doesn't increase prompt_tokens, which is {counted(plain, 'prompt_tokens')}", plain, exchange
        )


async def prompt_tokens_proportional(session: Session, endpoint: str, *, word: str, counts: Sequence[int]) -> None:
    """A repeated word has a proportional number of tokens."""
    measured = []
    for count in counts:
        content = " ".join([word] * count)
        body = {"messages": [{"role": "user", "content": content}], "max_tokens": 1}
        measured.append(counted(await session.answered(endpoint, body), "prompt_tokens"))
    pairs = list(zip(counts, measured, strict=True))
    slopes = [(b - d) / (a - c) for (a, b), (c, d) in zip(pairs[1:], pairs, strict=False)]
    if min(slopes) <= 0 or max(slopes) > 1.3 * min(slopes):
        raise Failed(f"prompts of {', '.join(map(str, counts))} words have {measured} tokens", *session.exchanges)


# Fields with the context's size in the list of models, by server.
CONTEXT_FIELDS = ("max_model_len", "context_length", "context_window", "meta.n_ctx", "meta.n_ctx_train")

# The field with the context of the model's training, which a server may extend.
TRAINED = CONTEXT_FIELDS[-1]

# A token limit above any context: a refusal of it may state the context's size.
HUGE = 16_000_000

# The largest context, in tokens, for which a too long prompt is sent.
LONGEST = 32_768

# Lengths of prompts in words, if the context's size is unknown.
LENGTHS = (4_096, 16_384, LONGEST + 1)

LENGTH_WORDS = re.compile("context|token|length|long|size", re.IGNORECASE)


async def too_long_prompt_refused(session: Session, endpoint: str, *, stream: bool = False) -> None:
    """A prompt beyond the context is refused before the answer starts, with an error about its length."""
    size, source = await _context(session, endpoint)
    if size is None:
        await _send_growing_prompts(session, endpoint, stream)
        return
    if size > LONGEST:
        raise NotExercised(f"the context has {size} tokens, too many for this case")
    exchange = await _send_words(session, endpoint, size + 1, stream)
    if source == TRAINED and exchange.ok:
        raise NotExercised("the server only states the context of the model's training")
    with about(exchange):
        if exchange.status is None or not 400 <= exchange.status < 500:
            actual = exchange.status or exchange.problem
            raise Failed(f"a prompt of {size + 1} words returns {actual}, though the context has {size} tokens")
        if not LENGTH_WORDS.search(exchange.content.decode("utf-8", "replace")):
            raise Failed("the error doesn't mention the prompt's length")


async def _send_growing_prompts(session: Session, endpoint: str, stream: bool) -> None:
    """Sends longer and longer prompts until one is refused. Raises NotExercised if none is."""
    for words in LENGTHS:
        exchange = await _send_words(session, endpoint, words, stream)
        if exchange.status is None or exchange.status >= 500:
            actual = exchange.status or exchange.problem
            raise Failed(f"a prompt of {words} words returns {actual}", exchange)
        if exchange.status >= 400:
            return
        if exchange.is_stream and not any("choices" in chunk for chunk in exchange.chunks):
            raise Failed(f"a prompt of {words} words starts a stream without any chunk", exchange)
    raise NotExercised(f"the server doesn't state the context's size, and accepts {LENGTHS[-1]} words")


async def _send_words(session: Session, endpoint: str, words: int, stream: bool) -> Exchange:
    """Sends a prompt of this many words. Raises NotExercised if the answer takes too long."""
    # A word has at least one token.
    body = {"messages": [{"role": "user", "content": "stone " * words}], "max_tokens": 1}
    exchange = await session.send(endpoint, body | ({"stream": True} if stream else {}))
    if exchange.ended == "too slow":
        raise NotExercised(f"the server didn't answer a prompt of {words} words in time")
    return exchange


async def _context(session: Session, endpoint: str) -> tuple[int | None, str]:
    """Returns the model's context in tokens (None if unknown), and where the server states it: a path in the list of
    models, or `refusal`."""
    listing = await session.send("models")
    for entry in _entries(listing.json if listing.ok else None, session.model):
        for path in CONTEXT_FIELDS:
            for _, value in values_at(entry, path):
                if type(value) is int and value > 0:
                    return value, path
    # If the limit isn't refused, the first vowel ends the answer.
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": HUGE, "stop": ["a", "e", "i", "o"]}
    refused = await session.send(endpoint, body)
    stated = re.search(r"context\D{1,30}(\d+)", str(refused.error.get("message")))
    return (int(stated[1]) if refused.status == 400 and stated else None), "refusal"


def _entries(listing: Any, model: str) -> list[Any]:
    entries = listing.get("data") if isinstance(listing, dict) else None
    return [entry for entry in entries or () if isinstance(entry, dict) and entry.get("id") == model]
