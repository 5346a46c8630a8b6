"""Prompts that are longer than the model's context."""

import re
from typing import Any

from specvino.conformance.cases.expect import values_at
from specvino.conformance.cases.session import Session, about
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised

# Where servers tell the size of the context, in their lists of models.
SAID = ("max_model_len", "context_length", "context_window", "meta.n_ctx", "meta.n_ctx_train")

# Where lists tell the size of the model's own context, which a server may have stretched.
TRAINED = SAID[-1]

# Tokens that no context has: a server that refuses such a limit names its own.
HUGE = 16_000_000

# Tokens of a context beyond which its prompt would be unkind.
LONGEST = 32_768

# Words of prompts where nobody says how long the context is.
LENGTHS = (4_096, 16_384, LONGEST + 1)

NAMED = re.compile("context|token|length|long|size", re.IGNORECASE)


async def beyond_context(session: Session, endpoint: str, *, stream: bool = False) -> None:
    """A prompt that doesn't fit is refused before anything is answered, and the refusal says why."""
    size, said = await _context(session, endpoint)
    if size is None:
        await _grown(session, endpoint, stream)
        return
    if size > LONGEST:
        raise NotExercised(f"the model's context has {size} tokens; it would take a prompt of megabytes")
    exchange = await _asked(session, endpoint, size + 1, stream)
    if said == TRAINED and exchange.ok:
        raise NotExercised("the server doesn't say how long its context is, only the model's own")
    with about(exchange):
        if exchange.status is None or not 400 <= exchange.status < 500:
            came = exchange.status or exchange.problem
            raise Failed(f"a prompt of {size + 1} words is answered with {came}, though the context has {size} tokens")
        if not NAMED.search(exchange.content.decode("utf-8", "replace")):
            raise Failed("the refusal doesn't say that the prompt is too long")


async def _grown(session: Session, endpoint: str, stream: bool) -> None:
    """Asks with longer and longer prompts, until one is refused."""
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
    """Raises NotExercised where the answer takes too long."""
    # A word is a token at least.
    body = {"messages": [{"role": "user", "content": "stone " * words}], "max_tokens": 1}
    exchange = await session.send(endpoint, body | ({"stream": True} if stream else {}))
    if exchange.ended == "too slow":
        raise NotExercised(f"the server did not answer a prompt of {words} words in time")
    return exchange


async def _context(session: Session, endpoint: str) -> tuple[int | None, str]:
    """Returns the model's context in tokens, None where it is unknown, and where the server says so."""
    listing = await session.send("models")
    for entry in _entries(listing.json if listing.ok else None, session.model):
        for path in SAID:
            for _, value in values_at(entry, path):
                if type(value) is int and value > 0:
                    return value, path
    # Where it isn't refused, the first letter ends the answer.
    asked = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": HUGE, "stop": ["a", "e", "i", "o"]}
    refused = await session.send(endpoint, asked)
    stated = re.search(r"context\D{1,30}(\d+)", str(refused.error.get("message")))
    return (int(stated[1]) if refused.status == 400 and stated else None), "refusal"


def _entries(listing: Any, model: str) -> list[Any]:
    entries = listing.get("data") if isinstance(listing, dict) else None
    return [each for each in entries or () if isinstance(each, dict) and each.get("id") == model]
