"""Bodies that a server has to bear."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.expect import expect
from specvino.conformance.cases.session import Session, about, paths, require_alive, require_answer
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised


async def borne(
    session: Session,
    endpoint: str,
    *,
    parts: Sequence[Mapping[str, Any]],
    refused: Sequence[str],
    taken: bool = False,
    to: str = "chat",
    headers: Mapping[str, str] | None = None,
) -> None:
    """A body is refused for any of these kinds, or as too large where the system knows that, or may be `taken` instead;
    and the server goes on answering. The body is the `parts`, each a `text`, in which ${model} is the model's name, or
    `base64`, so many `times`."""
    content = b"".join(_part(session, part) for part in parts)
    exchange = await session.raw("POST", paths()[to], content=content, headers=headers)
    too_large = ["too_large"] if session.dialect.statuses("too_large", to) else []
    require_borne(session, exchange, [*refused, *too_large], taken=taken, endpoint=to)
    with about(exchange):
        require_alive(await session.send("models"))


def require_borne(
    session: Session, exchange: Exchange, refused: Sequence[str], *, taken: bool, endpoint: str = "chat"
) -> None:
    """Raises Failed where the request is neither refused properly nor, where it may be, answered."""
    if taken and exchange.status is not None and exchange.status < 300:
        require_answer(exchange)
        return
    expect(exchange, {"refused": list(refused)}, session.dialect, endpoint)


async def refused_alike(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """What is refused is refused by the same status where a stream is asked for: not in a stream, after a 200."""
    unary = await session.send(to, body)
    if unary.ok:
        raise NotExercised("it isn't refused without a stream")
    expect(unary, {"refused": "validation"}, session.dialect, to)
    streamed = await session.send(to, {**body, "stream": True})
    if streamed.status != unary.status:
        said = f"; it begins with {streamed.content[:120].decode('utf-8', 'replace')!r}"
        raise Failed(f"the status is {unary.status}, but where a stream is asked for {streamed.status}{said}", streamed)


def _part(session: Session, part: Mapping[str, Any]) -> bytes:
    if "base64" in part:
        content = base64.b64decode(part["base64"])
    else:
        content = part["text"].replace("${model}", json.dumps(session.model)[1:-1]).encode()
    return content * int(part.get("times", 1))
