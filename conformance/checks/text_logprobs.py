"""The logprobs of tokens in text completions: lists of equal length."""

import math
from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.session import Session
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import Output, outputs
from specvino.conformance.verdict import Failed

LISTS = ("tokens", "token_logprobs", "top_logprobs", "text_offset")


async def text_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any], choices: int = 1) -> None:
    """Every choice has its lists, of one length, and numbers of at most 0; only the first of an echo is null."""
    exchange = await session.answered(endpoint, body)
    found = list(outputs(exchange))
    if len(found) != choices:
        raise Failed(f"there are {len(found)} choices, not {choices}", exchange)
    for output in found:
        logprobs = _logprobs(output, exchange)
        lengths = {name: len(logprobs[name]) for name in LISTS if isinstance(logprobs.get(name), list)}
        if len(set(lengths.values())) > 1:
            raise Failed(f"the lists have different lengths: {lengths}", exchange)
        values = logprobs.get("token_logprobs")
        if not values:
            raise Failed(f"token_logprobs is {values!r}", exchange)
        for place, value in enumerate(values):
            if value is None and place == 0 and body.get("echo"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not value <= 0 or math.isinf(value):
                raise Failed(f"token_logprobs.{place} is {value!r}, no number of at most 0", exchange)
        most = body["logprobs"] + 1  # the chosen token may come on top of those asked for
        for place, top in enumerate(logprobs.get("top_logprobs") or ()):
            if top is not None and len(top) > most:
                raise Failed(f"top_logprobs.{place} has {len(top)} tokens, {body['logprobs']} were asked for", exchange)


async def offsets(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A token's offset is where the one before it ends. Where the first one is, servers differ without echo."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        logprobs = _logprobs(output, exchange)
        found, tokens = logprobs.get("text_offset"), logprobs.get("tokens") or []
        if not isinstance(found, list) or not found:
            raise Failed(f"text_offset is {found!r}", exchange)
        if body.get("echo") and found[0] != 0:
            raise Failed(f"the first token begins at {found[0]}, though the text begins with it", exchange)
        for place, (token, here, there) in enumerate(zip(tokens, found, found[1:], strict=False)):
            if "\ufffd" in token or token.startswith("bytes:"):
                break  # part of a character: how much text it is, nobody can say
            length = len(token.encode()) if session.dialect.name == "ovms" else len(token)
            if there - here != length:
                raise Failed(f"text_offset goes from {here} to {there} over {token!r} (token {place})", exchange)


async def echoed(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The prompt's tokens come first, its very first with null: nothing foretold it."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        logprobs = _logprobs(output, exchange)
        if not output.text.startswith(body["prompt"]):
            raise Failed(f"the text is {output.text[:120]!r}, and doesn't begin with the prompt", exchange)
        values = logprobs.get("token_logprobs") or ["nothing"]
        if values[0] is not None:
            raise Failed(f"the first token's logprob is {values[0]!r}, not null", exchange)
        if body["prompt"] not in "".join(map(str, logprobs.get("tokens") or ())):
            raise Failed("the prompt's tokens have no logprobs", exchange)


async def text_counts(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """There is one entry for each token that usage counts; the one that ended the text may be without."""
    exchange = await session.answered(endpoint, body)
    made = counted(exchange, "completion_tokens")
    for output in outputs(exchange):
        count = len(_logprobs(output, exchange).get("tokens") or ())
        if not made - 1 <= count <= made:
            raise Failed(f"{made} tokens were made, but {count} have logprobs", exchange)


def _logprobs(output: Output, exchange: Exchange) -> Mapping[str, Any]:
    logprobs = output.choice.get("logprobs")
    if not isinstance(logprobs, dict):
        raise Failed(f"logprobs were asked for, and are {logprobs!r}", exchange)
    return logprobs
