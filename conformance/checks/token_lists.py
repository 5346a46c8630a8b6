"""Lists of tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.session import Session
from specvino.conformance.verdict import Failed, NotExercised


async def tokens_of_several(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """Several texts have the tokens that each has alone, in the order of the request."""
    alone = [await _tokens(session, {"text": text}) for text in texts]
    together = await _tokens(session, {"text": list(texts)})
    if together != alone:
        raise Failed(f"alone the texts have the tokens {alone}, together {together}", *session.exchanges)


async def tokens_cut(session: Session, endpoint: str, *, text: str, length: int) -> None:
    """max_length keeps the first tokens."""
    plain = {"text": text, "add_special_tokens": False}
    whole = await _tokens(session, plain)
    if len(whole) <= length:
        raise NotExercised(f"the text has only {len(whole)} tokens")
    cut = await _tokens(session, {**plain, "max_length": length})
    if cut != whole[:length]:
        raise Failed(f"the tokens are {whole}, but with max_length {length} {cut}", *session.exchanges)


async def tokens_filled(session: Session, endpoint: str, *, text: str, more: int, side: str) -> None:
    """A padded list is the tokens with so many `more` of one token on that side."""
    plain = {"text": text, "add_special_tokens": False}
    whole = await _tokens(session, plain)
    length = len(whole) + more
    filled = await _tokens(session, {**plain, "max_length": length, "pad_to_max_length": True, "padding_side": side})
    kept, pads = (filled[:-more], filled[-more:]) if side == "right" else (filled[more:], filled[:more])
    if kept != whole or any(pad != pads[0] for pad in pads) or len(filled) != length:
        raise Failed(f"the tokens are {whole}, but filled up to {length} on the {side} {filled}", *session.exchanges)


async def tokens_stay(session: Session, endpoint: str, *, text: str, body: Mapping[str, Any]) -> None:
    """With these further fields the tokens are the same."""
    plain, other = await _tokens(session, {"text": text}), await _tokens(session, {"text": text, **body})
    if plain != other:
        raise Failed(f"the tokens are {plain}, but with {dict(body)} {other}", *session.exchanges)


async def tokens_read(session: Session, endpoint: str, *, text: str) -> None:
    """As a prompt, the tokens of a text are as many as it has, and are echoed as this text."""
    tokens = await _tokens(session, {"text": text, "add_special_tokens": False})
    exchange = await session.answered("completions", {"prompt": tokens, "echo": True, "max_tokens": 1})
    answer = exchange.answer
    echoed, counted = answer["choices"][0]["text"], (answer.get("usage") or {}).get("prompt_tokens")
    if echoed.startswith(" ".join(map(str, tokens))):
        raise NotExercised("the server reads token ids as numbers, which a mock does")
    if not echoed.startswith(text):
        raise Failed(f"the tokens of {text!r} are echoed as {echoed!r}", *session.exchanges)
    if counted != len(tokens):
        raise Failed(f"{len(tokens)} tokens count as {counted} in the prompt", *session.exchanges)


async def _tokens(session: Session, body: Mapping[str, Any]) -> Any:
    exchange = await session.answered("tokenize", body)
    tokens = exchange.answer.get("tokens")
    if not isinstance(tokens, list):
        raise Failed(f"tokens is {tokens!r}", exchange)
    return tokens
