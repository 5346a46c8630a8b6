"""Lists of tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.session.session import Session
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
    """A padded list has the tokens, and `more` times one token on that side."""
    plain = {"text": text, "add_special_tokens": False}
    whole = await _tokens(session, plain)
    length = len(whole) + more
    filled = await _tokens(session, {**plain, "max_length": length, "pad_to_max_length": True, "padding_side": side})
    kept, pads = (filled[:-more], filled[-more:]) if side == "right" else (filled[more:], filled[:more])
    if kept != whole or any(pad != pads[0] for pad in pads) or len(filled) != length:
        raise Failed(f"the tokens are {whole}, but filled up to {length} on the {side} {filled}", *session.exchanges)


async def tokens_stay(session: Session, endpoint: str, *, text: str, body: Mapping[str, Any]) -> None:
    """With these additional fields the tokens are the same."""
    plain, other = await _tokens(session, {"text": text}), await _tokens(session, {"text": text, **body})
    if plain != other:
        raise Failed(f"the tokens are {plain}, but with {dict(body)} {other}", *session.exchanges)


async def tokens_read(session: Session, endpoint: str, *, text: str) -> None:
    """As a prompt, the tokens of a text count as that many, and are echoed as the text."""
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


async def tokens_same(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """These requests have the same tokens."""
    token_lists = [await _tokens(session, body) for body in bodies]
    if any(tokens != token_lists[0] for tokens in token_lists):
        raise Failed(f"the tokens are {token_lists}", *session.exchanges)


async def tokens_of_chat(session: Session, endpoint: str, *, messages: Sequence[Mapping[str, Any]]) -> None:
    """A conversation has as many tokens as chat counts."""
    tokens = await _tokens(session, {"messages": messages})
    exchange = await session.answered("chat", {"messages": messages, "max_tokens": 1})
    counted = (exchange.answer.get("usage") or {}).get("prompt_tokens")
    if counted != len(tokens):
        raise Failed(f"chat counts {counted} tokens where there are {len(tokens)}", *session.exchanges)


async def tokens_counted(session: Session, endpoint: str, *, bodies: Sequence[Mapping[str, Any]]) -> None:
    """The count is that of the tokens; a list of counts for lists."""
    for body in bodies:
        exchange = await session.answered("tokenize", body)
        tokens, count = exchange.answer["tokens"], exchange.answer.get("count")
        if count != ([len(ids) for ids in tokens] if isinstance(tokens[0], list) else len(tokens)):
            raise Failed(f"of the tokens {tokens} there are {count}", exchange)


async def tokens_spelt(session: Session, endpoint: str, *, body: Mapping[str, Any], text: str) -> None:
    """The texts of the tokens, in a list of their own or beside each token, join to the text."""
    answer = (await session.answered("tokenize", body)).answer
    pieces = answer.get("token_strs") or [token["piece"] for token in answer["tokens"] if isinstance(token, Mapping)]
    if len(pieces) != len(answer["tokens"]):
        raise Failed(f"{len(answer['tokens'])} tokens have {len(pieces)} texts", *session.exchanges)
    spelt = b"".join(piece.encode() if isinstance(piece, str) else bytes(piece) for piece in pieces)
    if spelt.decode(errors="replace").strip() != text:
        raise Failed(f"the tokens of {text!r} are spelt {spelt!r}", *session.exchanges)


async def tokens_mixed(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """A token between two texts stays between their tokens."""
    before, behind = [await _tokens(session, {"content": text}) for text in texts]
    token = before[0]
    mixed = await _tokens(session, {"content": [texts[0], token, texts[1]]})
    if mixed != [*before, token, *behind]:
        raise Failed(f"{before}, {token} and {behind} become {mixed}", *session.exchanges)


async def text_comes_back(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """The tokens of a text give that text."""
    for text in texts:
        tokens = await _tokens(session, {"prompt": text, "add_special_tokens": False})
        if (back := await _text(session, tokens)) != text:
            raise Failed(f"the tokens of {text!r} are the text {back!r}", *session.exchanges)


async def texts_come_back(session: Session, endpoint: str, *, texts: Sequence[str]) -> None:
    """Several lists of tokens give several texts."""
    lists = [await _tokens(session, {"prompt": text, "add_special_tokens": False}) for text in texts]
    if (back := await _text(session, lists)) != list(texts):
        raise Failed(f"the tokens of {list(texts)} are the texts {back!r}", *session.exchanges)


async def _text(session: Session, tokens: Sequence[Any]) -> Any:
    answer = (await session.answered("detokenize", {"tokens": tokens})).answer
    return next((answer[name] for name in ("prompt", "text", "content") if name in answer), None)


async def _tokens(session: Session, body: Mapping[str, Any]) -> Any:
    exchange = await session.answered("tokenize", body)
    tokens = exchange.answer.get("tokens")
    if not isinstance(tokens, list):
        raise Failed(f"tokens is {tokens!r}", exchange)
    return tokens
