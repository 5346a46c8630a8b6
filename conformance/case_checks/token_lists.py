"""Checks of the endpoints tokenize and detokenize."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.session.session import Session
from specvino.conformance.verdict import Failed, NotExercised


async def tokens_of_text_list(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """Several texts have the same tokens as in separate requests, in the order of the request."""
    separate = [await _tokens(session, {"text": text}) for text in texts]
    together = await _tokens(session, {"text": list(texts)})
    if together != separate:
        raise Failed(f"the tokens are {separate} in separate requests, but {together} in one", *session.exchanges)


async def tokens_truncated(session: Session, endpoint: str, *, text: str, length: int) -> None:
    """max_length keeps the first tokens."""
    plain = {"text": text, "add_special_tokens": False}
    tokens = await _tokens(session, plain)
    if len(tokens) <= length:
        raise NotExercised(f"the text has only {len(tokens)} tokens")
    truncated = await _tokens(session, {**plain, "max_length": length})
    if truncated != tokens[:length]:
        raise Failed(f"the tokens are {tokens}, but with max_length {length} they are {truncated}", *session.exchanges)


async def tokens_padded(session: Session, endpoint: str, *, text: str, more: int, side: str) -> None:
    """A padded list has the tokens and `more` padding tokens on that side."""
    plain = {"text": text, "add_special_tokens": False}
    tokens = await _tokens(session, plain)
    length = len(tokens) + more
    padded = await _tokens(session, {**plain, "max_length": length, "pad_to_max_length": True, "padding_side": side})
    kept, pads = (padded[:-more], padded[-more:]) if side == "right" else (padded[more:], padded[:more])
    if kept != tokens or any(pad != pads[0] for pad in pads) or len(padded) != length:
        raise Failed(
            f"the tokens are {tokens}, but padded to {length} on the {side} they are {padded}", *session.exchanges
        )


async def tokens_unchanged(session: Session, endpoint: str, *, text: str, body: Mapping[str, Any]) -> None:
    """The additional fields of `body` don't change the tokens."""
    plain, extended = await _tokens(session, {"text": text}), await _tokens(session, {"text": text, **body})
    if plain != extended:
        raise Failed(f"the tokens are {plain}, but with {dict(body)} they are {extended}", *session.exchanges)


async def tokens_as_prompt(session: Session, endpoint: str, *, text: str) -> None:
    """The tokens of a text, as a prompt, are counted as that many and echoed as the text."""
    tokens = await _tokens(session, {"text": text, "add_special_tokens": False})
    exchange = await session.answered("completions", {"prompt": tokens, "echo": True, "max_tokens": 1})
    answer = exchange.answer
    echoed, counted = answer["choices"][0]["text"], (answer.get("usage") or {}).get("prompt_tokens")
    if echoed.startswith(" ".join(map(str, tokens))):
        raise NotExercised("the server treats token ids as text, as mocks do")
    if not echoed.startswith(text):
        raise Failed(f"the echo of the tokens of {text!r} is {echoed!r}", *session.exchanges)
    if counted != len(tokens):
        raise Failed(f"prompt_tokens is {counted} for {len(tokens)} tokens", *session.exchanges)


async def tokens_equal(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """All these requests return the same tokens."""
    token_lists = [await _tokens(session, body) for body in bodies]
    if any(tokens != token_lists[0] for tokens in token_lists):
        raise Failed(f"the tokens differ: {token_lists}", *session.exchanges)


async def tokens_match_chat_usage(session: Session, endpoint: str, *, messages: Sequence[Mapping[str, Any]]) -> None:
    """A conversation has as many tokens as prompt_tokens of chat."""
    tokens = await _tokens(session, {"messages": messages})
    exchange = await session.answered("chat", {"messages": messages, "max_tokens": 1})
    counted = (exchange.answer.get("usage") or {}).get("prompt_tokens")
    if counted != len(tokens):
        raise Failed(f"prompt_tokens of chat is {counted}, but there are {len(tokens)} tokens", *session.exchanges)


async def token_count_matches(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """`count` is the number of tokens; for lists of tokens, a list of numbers."""
    for body in bodies:
        exchange = await session.answered("tokenize", body)
        tokens, count = exchange.answer["tokens"], exchange.answer.get("count")
        if count != ([len(ids) for ids in tokens] if isinstance(tokens[0], list) else len(tokens)):
            raise Failed(f"count is {count} for the tokens {tokens}", exchange)


async def token_pieces_join(session: Session, endpoint: str, *, body: Mapping[str, Any], text: str) -> None:
    """The texts of the tokens, in `token_strs` or next to each token, join to the text."""
    answer = (await session.answered("tokenize", body)).answer
    pieces = answer.get("token_strs") or [token["piece"] for token in answer["tokens"] if isinstance(token, Mapping)]
    if len(pieces) != len(answer["tokens"]):
        raise Failed(f"there are {len(pieces)} texts for {len(answer['tokens'])} tokens", *session.exchanges)
    joined = b"".join(piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces)
    if joined.decode(errors="replace").strip() != text:
        raise Failed(f"the texts of the tokens of {text!r} join to {joined!r}", *session.exchanges)


async def tokens_of_mixed_content(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """A token id between two texts stays between their tokens."""
    before, after = [await _tokens(session, {"content": text}) for text in texts]
    token = before[0]
    mixed = await _tokens(session, {"content": [texts[0], token, texts[1]]})
    if mixed != [*before, token, *after]:
        raise Failed(
            f"the tokens of the parts are {before}, {token} and {after}, but together they are {mixed}",
            *session.exchanges,
        )


async def detokenize_text(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """The tokens of a text detokenize to the text."""
    for text in texts:
        tokens = await _tokens(session, {"prompt": text, "add_special_tokens": False})
        if (detokenized := await _text(session, tokens)) != text:
            raise Failed(f"the tokens of {text!r} detokenize to {detokenized!r}", *session.exchanges)


async def detokenize_text_list(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """Several lists of tokens detokenize to several texts."""
    lists = [await _tokens(session, {"prompt": text, "add_special_tokens": False}) for text in texts]
    if (detokenized := await _text(session, lists)) != list(texts):
        raise Failed(f"the tokens of {list(texts)} detokenize to {detokenized!r}", *session.exchanges)


async def _text(session: Session, tokens: Sequence[Any]) -> Any:
    answer = (await session.answered("detokenize", {"tokens": tokens})).answer
    return next((answer[name] for name in ("prompt", "text", "content") if name in answer), None)


async def _tokens(session: Session, body: Mapping[str, Any]) -> Any:
    exchange = await session.answered("tokenize", body)
    tokens = exchange.answer.get("tokens")
    if not isinstance(tokens, list):
        raise Failed(f"tokens is {tokens!r}", exchange)
    return tokens
