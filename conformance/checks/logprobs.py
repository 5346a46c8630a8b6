"""Logprobs of chat and of text completions."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import Output, has_reasoning, outputs
from specvino.conformance.session.session import Session
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised

# By how much two logprobs of one token may differ: some servers round.
CLOSE = 1e-3


async def logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any], choices: int = 1) -> None:
    """Every choice has entries: tokens with a logprob of at most 0 and their own bytes."""
    exchange = await session.answered(endpoint, body)
    all_outputs = list(outputs(exchange))
    if len(all_outputs) != choices:
        raise Failed(f"there are {len(all_outputs)} choices, not {choices}", exchange)
    for index, output in enumerate(all_outputs):
        entries = _entries(output, exchange)
        if not entries:
            raise Failed(f"choice {index} has no logprobs, though they were asked for", exchange)
        for entry in entries:
            for token in (entry, *(entry.get("top_logprobs") or ())):
                _require_logprob(session, token, exchange)


def _require_logprob(session: Session, entry: Mapping[str, Any], exchange: Exchange) -> None:
    token, logprob, own = entry.get("token"), entry.get("logprob"), entry.get("bytes")
    if not isinstance(token, str):
        raise Failed(f"a token is {token!r}", exchange)
    if isinstance(logprob, bool) or not isinstance(logprob, int | float) or not logprob <= 0 or math.isinf(logprob):
        raise Failed(f"the logprob of {token!r} is {logprob!r}, no number of at most 0", exchange)
    if own is None:
        return
    if not isinstance(own, list) or not all(type(byte) is int and 0 <= byte <= 255 for byte in own):
        raise Failed(f"the bytes of {token!r} are {own!r}", exchange)
    try:
        text = bytes(own).decode()
    except UnicodeDecodeError:
        return  # part of a character: its token's text is undefined
    # A token that adds nothing to the text has the empty text, whatever its bytes.
    if token and own and session.dialect.shown(text) != token:
        raise Failed(f"the bytes of {token!r} say {text!r}", exchange)


async def logprob_counts(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """There is an entry for each token that usage counts; the one that ended the answer may have none."""
    exchange = await session.answered(endpoint, body)
    made = counted(exchange, "completion_tokens")
    for output in outputs(exchange):
        if has_reasoning(exchange, output):
            raise NotExercised("the model thinks, and servers differ in whether reasoning has logprobs")
        count = len(_entries(output, exchange))
        if not max(made - 1, 1) <= count <= made:
            raise Failed(f"{made} tokens were made, but {count} have logprobs", exchange)


async def logprob_chunks(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """In a stream, each chunk with text has its tokens' logprobs."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    texts = 0
    for chunk in exchange.chunks:
        for choice in chunk.get("choices") or ():
            if (choice.get("delta") or {}).get("content"):
                texts += 1
                if not ((choice.get("logprobs") or {}).get("content")):
                    raise Failed("a chunk has text, but no logprobs", exchange)
    if not texts:
        raise NotExercised("the stream holds no text")


async def top_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """At each position there are at most as many as requested, and somewhere that many, the most likely first, with
    probabilities of at most 1 in all; the chosen token has the same logprob in both places."""
    exchange = await session.answered(endpoint, body)
    requested: int = body["top_logprobs"]
    most: list[Any] = []
    for output in outputs(exchange):
        for entry in _entries(output, exchange):
            top = entry.get("top_logprobs") or []
            most = max(most, top, key=len)
            values = [candidate["logprob"] for candidate in top]
            where = f"at {entry.get('token')!r}"
            if len(top) > requested:
                raise Failed(f"{where} are {len(top)} tokens, though {requested} were asked for", exchange)
            if values != sorted(values, reverse=True):
                raise Failed(f"{where} the tokens are not in order: {values}", exchange)
            if sum(map(math.exp, values)) > 1.01:
                raise Failed(f"{where} the probabilities are more than 1 together: {values}", exchange)
            for candidate in top:
                same = (candidate.get("token"), candidate.get("bytes")) == (entry.get("token"), entry.get("bytes"))
                if same and abs(candidate["logprob"] - entry["logprob"]) > CLOSE:
                    raise Failed(f"{where} it is {entry['logprob']}, but {candidate['logprob']} in its list", exchange)
            if body.get("temperature") == 0 and top and values[0] > entry["logprob"] + CLOSE:
                raise Failed(f"{where} another token was likelier, though temperature is 0", exchange)
    # There may be fewer now and then, says OpenAI's document, but not at all positions; or the chosen token alone,
    # where the server says so.
    alone = len(most) <= 1 and "top_logprobs" in exchange.without_effect
    if len(most) < requested and not alone:
        raise Failed(f"{requested} were asked for, but no token has more than {len(most)}", exchange)


async def no_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Without logprobs in the request, no choice has any: null, or no field at all."""
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        for holder in exchange.chunks if exchange.is_stream else (exchange.answer,):
            for choice in holder.get("choices") or ():
                if choice.get("logprobs") is not None:
                    raise Failed(f"logprobs are {str(choice['logprobs'])[:120]}, though none were asked for", exchange)


async def bytes_join(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The tokens' bytes are the text in UTF-8, also where a character is several tokens."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        if has_reasoning(exchange, output) or output.reason == "length":
            raise NotExercised("the model thinks, or was cut off")
        pieces = [entry.get("bytes") for entry in _entries(output, exchange)]
        if None in pieces:
            raise NotExercised("the server doesn't tell bytes")
        joined = bytes(byte for piece in pieces for byte in piece or ())
        if output.text.encode() not in joined:
            raise Failed(f"the bytes join to {joined[:120]!r}, but the text is {output.text[:120]!r}", exchange)


def _entries(output: Output, exchange: Exchange) -> list[dict[str, Any]]:
    logprobs = output.choice.get("logprobs")
    if not isinstance(logprobs, dict):
        raise Failed(f"logprobs were asked for, and are {logprobs!r}", exchange)
    return list(_dicts(logprobs.get("content") or ()))


def _dicts(values: Any) -> Iterator[dict[str, Any]]:
    yield from (value for value in values if isinstance(value, dict))


LISTS = ("tokens", "token_logprobs", "top_logprobs", "text_offset")


async def text_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any], choices: int = 1) -> None:
    """Every choice has its lists, with the same length and numbers of at most 0; only the first of an echo is null."""
    exchange = await session.answered(endpoint, body)
    all_outputs = list(outputs(exchange))
    if len(all_outputs) != choices:
        raise Failed(f"there are {len(all_outputs)} choices, not {choices}", exchange)
    for output in all_outputs:
        logprobs = _logprobs(output, exchange)
        lengths = {name: len(logprobs[name]) for name in LISTS if isinstance(logprobs.get(name), list)}
        if len(set(lengths.values())) > 1:
            raise Failed(f"the lists have different lengths: {lengths}", exchange)
        values = logprobs.get("token_logprobs")
        if not values:
            raise Failed(f"token_logprobs is {values!r}", exchange)
        for index, value in enumerate(values):
            if value is None and index == 0 and body.get("echo"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not value <= 0 or math.isinf(value):
                raise Failed(f"token_logprobs.{index} is {value!r}, no number of at most 0", exchange)
        most = body["logprobs"] + 1  # the chosen token may come on top of the requested ones
        for index, top in enumerate(logprobs.get("top_logprobs") or ()):
            if top is not None and len(top) > most:
                raise Failed(f"top_logprobs.{index} has {len(top)} tokens, {body['logprobs']} were asked for", exchange)


async def offsets(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A token's offset is the end of the previous one. Without echo, servers differ in the first offset."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        logprobs = _logprobs(output, exchange)
        offsets, tokens = logprobs.get("text_offset"), logprobs.get("tokens") or []
        if not isinstance(offsets, list) or not offsets:
            raise Failed(f"text_offset is {offsets!r}", exchange)
        if body.get("echo") and offsets[0] != 0:
            raise Failed(f"the first token begins at {offsets[0]}, though the text begins with it", exchange)
        for index, (token, here, there) in enumerate(zip(tokens, offsets, offsets[1:], strict=False)):
            if "\ufffd" in token or token.startswith("bytes:"):
                break  # part of a character: the length of its text is undefined
            length = session.dialect.text_length(token)
            if there - here != length:
                raise Failed(f"text_offset goes from {here} to {there} over {token!r} (token {index})", exchange)


async def echoed(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The prompt's tokens come first; the logprob of the first one is null, as nothing precedes it."""
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
    """There is an entry for each token that usage counts; the one that ended the text may have none."""
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
