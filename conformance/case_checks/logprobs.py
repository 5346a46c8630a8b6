"""Checks of logprobs in chat and text completions."""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from specvino.conformance.http.exchange import Exchange
from specvino.conformance.rules.outputs import Output, has_reasoning, outputs, texts
from specvino.conformance.session.session import Session
from specvino.conformance.session.steadiness import is_steady
from specvino.conformance.session.steps import counted
from specvino.conformance.verdict import Failed, NotExercised, Unsuitable

# The largest difference of two logprobs of one token: some servers round.
TOLERANCE = 1e-3


async def chat_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any], choices: int = 1) -> None:
    """Every choice has logprobs of at most 0, with the right bytes for each token."""
    exchange = await session.answered(endpoint, body)
    all_outputs = list(outputs(exchange))
    if len(all_outputs) != choices:
        raise Failed(f"there are {len(all_outputs)} choices, not {choices}", exchange)
    for index, output in enumerate(all_outputs):
        entries = _entries(output, exchange)
        if not entries:
            raise Failed(f"choice {index} has no logprobs, though they were requested", exchange)
        for entry in entries:
            for token in (entry, *(entry.get("top_logprobs") or ())):
                _require_logprob(session, token, exchange)


def _require_logprob(session: Session, entry: Mapping[str, Any], exchange: Exchange) -> None:
    token, logprob, own = entry.get("token"), entry.get("logprob"), entry.get("bytes")
    if not isinstance(token, str):
        raise Failed(f"a token is {token!r}", exchange)
    if isinstance(logprob, bool) or not isinstance(logprob, int | float) or not logprob <= 0 or math.isinf(logprob):
        raise Failed(f"the logprob of {token!r} is {logprob!r}, not a number of at most 0", exchange)
    if own is None:
        return
    if not isinstance(own, list) or not all(type(byte) is int and 0 <= byte <= 255 for byte in own):
        raise Failed(f"the bytes of {token!r} are {own!r}", exchange)
    try:
        text = bytes(own).decode()
    except UnicodeDecodeError:
        return  # an incomplete character, whose text is undefined
    # A token that isn't part of the text has an empty text, whatever its bytes.
    if token and own and session.dialect.logprob_text(text) != token:
        raise Failed(f"the bytes of {token!r} are those of {text!r}", exchange)


async def chat_logprobs_per_token(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """There is an entry for each token that usage counts; the last one may lack it."""
    exchange = await session.answered(endpoint, body)
    completion_tokens = counted(exchange, "completion_tokens")
    for output in outputs(exchange):
        if has_reasoning(exchange, output):
            raise Unsuitable("the answer has reasoning, for which servers may omit logprobs")
        count = len(_entries(output, exchange))
        if not max(completion_tokens - 1, 1) <= count <= completion_tokens:
            raise Failed(f"completion_tokens is {completion_tokens}, but {count} tokens have logprobs", exchange)


async def chat_logprobs_in_chunks(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """In a stream, each chunk with text has logprobs."""
    exchange = await session.answered(endpoint, {**body, "stream": True})
    texts = 0
    for chunk in exchange.chunks:
        for choice in chunk.get("choices") or ():
            if (choice.get("delta") or {}).get("content"):
                texts += 1
                if not ((choice.get("logprobs") or {}).get("content")):
                    raise Failed("a chunk with text has no logprobs", exchange)
    if not texts:
        raise Unsuitable("the stream has no text")


async def chat_top_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """No position has more alternatives than requested, and some position has that many; they are sorted, their
    probabilities sum to at most 1, and the chosen token has the same logprob among them."""
    exchange = await session.answered(endpoint, body)
    requested: int = body["top_logprobs"]
    is_greedy = exchange.request.asked("temperature") == 0
    less_likely = None
    most: list[Any] = []
    for output in outputs(exchange):
        for entry in _entries(output, exchange):
            top = entry.get("top_logprobs") or []
            most = max(most, top, key=len)
            values = [candidate["logprob"] for candidate in top]
            position = f"at {entry.get('token')!r}"
            if len(top) > requested:
                raise Failed(
                    f"{position} there are {len(top)} alternatives, though {requested} were requested", exchange
                )
            if values != sorted(values, reverse=True):
                raise Failed(f"{position} the alternatives aren't sorted: {values}", exchange)
            if sum(map(math.exp, values)) > 1.01:
                raise Failed(f"{position} the probabilities sum to more than 1: {values}", exchange)
            for candidate in top:
                same = (candidate.get("token"), candidate.get("bytes")) == (entry.get("token"), entry.get("bytes"))
                if same and abs(candidate["logprob"] - entry["logprob"]) > TOLERANCE:
                    raise Failed(
                        f"{position} the logprob is {entry['logprob']}, "
                        f"but {candidate['logprob']} among the alternatives",
                        exchange,
                    )
            if is_greedy and top and values[0] > entry["logprob"] + TOLERANCE:
                less_likely = less_likely or position
    if less_likely and not await is_steady(partial(session.answered, endpoint, body), texts):
        raise NotExercised("the server draws its answers at temperature 0, too")
    if less_likely:
        raise Failed(f"{less_likely} another token is more likely, though temperature is 0", exchange)
    # By OpenAI's document some positions may have fewer alternatives, but not all. A server may report that it has
    # only the chosen token.
    only_chosen = len(most) <= 1 and "top_logprobs" in exchange.without_effect
    if len(most) < requested and not only_chosen:
        raise Failed(f"{requested} alternatives were requested, but no position has more than {len(most)}", exchange)


async def no_logprobs_unless_requested(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """Without logprobs in the request, no choice has them: null or absent."""
    for stream in (False, True):
        exchange = await session.answered(endpoint, {**body, "stream": stream})
        for holder in exchange.chunks if exchange.is_stream else (exchange.answer,):
            for choice in holder.get("choices") or ():
                if choice.get("logprobs") is not None:
                    raise Failed(
                        f"logprobs are {str(choice['logprobs'])[:120]}, though they weren't requested", exchange
                    )


async def chat_logprob_bytes_match_text(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The bytes of the tokens are the text in UTF-8, also where several tokens form a character."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        if has_reasoning(exchange, output) or output.reason == "length":
            raise Unsuitable("the answer has reasoning, or was truncated")
        pieces = [entry.get("bytes") for entry in _entries(output, exchange)]
        if None in pieces:
            raise NotExercised("the server doesn't return bytes")
        joined = bytes(byte for piece in pieces for byte in piece or ())
        if output.text.encode() not in joined:
            raise Failed(f"the bytes join to {joined[:120]!r}, but the text is {output.text[:120]!r}", exchange)


def _entries(output: Output, exchange: Exchange) -> list[dict[str, Any]]:
    logprobs = output.choice.get("logprobs")
    if not isinstance(logprobs, dict):
        raise Failed(f"logprobs were requested, but are {logprobs!r}", exchange)
    return list(_dicts(logprobs.get("content") or ()))


def _dicts(values: Any) -> Iterator[dict[str, Any]]:
    yield from (value for value in values if isinstance(value, dict))


LISTS = ("tokens", "token_logprobs", "top_logprobs", "text_offset")


async def completion_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any], choices: int = 1) -> None:
    """Every choice has lists of the same length, with logprobs of at most 0; only the first one of an echo is null."""
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
                raise Failed(f"token_logprobs.{index} is {value!r}, not a number of at most 0", exchange)
        most = body["logprobs"] + 1  # the chosen token may come in addition
        for index, top in enumerate(logprobs.get("top_logprobs") or ()):
            if top is not None and len(top) > most:
                raise Failed(
                    f"top_logprobs.{index} has {len(top)} tokens, though {body['logprobs']} were requested", exchange
                )


async def completion_text_offsets(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A token's offset is the end of the previous token. Without echo, the first offset is the server's choice."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        logprobs = _logprobs(output, exchange)
        offsets, tokens = logprobs.get("text_offset"), logprobs.get("tokens") or []
        if not isinstance(offsets, list) or not offsets:
            raise Failed(f"text_offset is {offsets!r}", exchange)
        if body.get("echo") and offsets[0] != 0:
            raise Failed(f"text_offset begins with {offsets[0]}, not with 0", exchange)
        for index, (token, offset, next_offset) in enumerate(zip(tokens, offsets, offsets[1:], strict=False)):
            if "\ufffd" in token or token.startswith("bytes:"):
                break  # an incomplete character, whose length is undefined
            length = session.dialect.text_length(token)
            if next_offset - offset != length:
                raise Failed(f"text_offset goes from {offset} to {next_offset} for {token!r} (token {index})", exchange)


async def completion_echo_logprobs(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """The prompt's tokens come first; the first one has no logprob, since nothing precedes it."""
    exchange = await session.answered(endpoint, body)
    for output in outputs(exchange):
        logprobs = _logprobs(output, exchange)
        if not output.text.startswith(body["prompt"]):
            raise Failed(f"the text {output.text[:120]!r} doesn't begin with the prompt", exchange)
        values = logprobs.get("token_logprobs") or ["nothing"]
        if values[0] is not None:
            raise Failed(f"the first token's logprob is {values[0]!r}, not null", exchange)
        if body["prompt"] not in "".join(map(str, logprobs.get("tokens") or ())):
            raise Failed("the prompt's tokens have no logprobs", exchange)


async def completion_logprobs_per_token(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """There is an entry for each token that usage counts; the last one may lack it."""
    exchange = await session.answered(endpoint, body)
    completion_tokens = counted(exchange, "completion_tokens")
    for output in outputs(exchange):
        count = len(_logprobs(output, exchange).get("tokens") or ())
        if not completion_tokens - 1 <= count <= completion_tokens:
            raise Failed(f"completion_tokens is {completion_tokens}, but {count} tokens have logprobs", exchange)


def _logprobs(output: Output, exchange: Exchange) -> Mapping[str, Any]:
    logprobs = output.choice.get("logprobs")
    if not isinstance(logprobs, dict):
        raise Failed(f"logprobs were requested, but are {logprobs!r}", exchange)
    return logprobs
