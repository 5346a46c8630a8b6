"""Bodies of requests: malformed, null and unknown fields, and values at and beyond their bounds."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.conformance.dialect import LEFT_OUT
from specvino.conformance.endpoints import paths
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session, about, require_alive, require_answer
from specvino.conformance.session.steps import NAMES_THE_FIELD, expect
from specvino.conformance.verdict import Failed, NotExercised
from specvino.document.beyond_bounds import beyond_bounds
from specvino.document.pointers import resolved


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
    """A body is refused for any of these kinds, or as too large where the system has such a refusal, or may be accepted
    with `taken`; and the server goes on answering. The body consists of the `parts`, each a `text`, in which ${model}
    is the model's name, or `base64`, repeated `times` times."""
    content = b"".join(_part(session, part) for part in parts)
    exchange = await session.raw("POST", paths()[to], content=content, headers=headers)
    too_large = ["too_large"] if session.dialect.statuses("too_large", to) else []
    require_borne(session, exchange, [*refused, *too_large], taken=taken, endpoint=to)
    with about(exchange):
        require_alive(await session.send("models"))


def require_borne(
    session: Session, exchange: Exchange, refused: Sequence[str], *, taken: bool, endpoint: str = "chat"
) -> None:
    """Raises Failed if the request is neither refused properly nor, with `taken`, answered."""
    if taken and exchange.status is not None and exchange.status < 300:
        require_answer(exchange)
        return
    expect(exchange, {"refused": list(refused)}, session.dialect, endpoint)


async def refused_alike(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """A refused request is refused with the same status as a streaming request, not within a stream after a 200."""
    unary = await session.send(to, body)
    if unary.ok:
        raise NotExercised("it isn't refused without a stream")
    expect(unary, {"refused": "validation"}, session.dialect, to)
    streamed = await session.send(to, {**body, "stream": True})
    if streamed.status != unary.status:
        beginning = f"; it begins with {streamed.content[:120].decode('utf-8', 'replace')!r}"
        raise Failed(
            f"the status is {unary.status}, but where a stream is asked for {streamed.status}{beginning}", streamed
        )


def _part(session: Session, part: Mapping[str, Any]) -> bytes:
    if "base64" in part:
        content = base64.b64decode(part["base64"])
    else:
        content = part["text"].replace("${model}", json.dumps(session.model)[1:-1]).encode()
    return content * int(part.get("times", 1))


# The number of exchanges in a finding.
MOST_SHOWN = 5


async def refused_beyond_bounds(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A value above the document's bounds is refused: a number, a text, a list, an object, a property's name. Each
    upper bound of the endpoint's document is tried alone."""
    document = session.dialect.document
    schema = resolved(document, session.dialect.operations[endpoint].body or {})
    tried, taken = 0, list[tuple[str, Exchange]]()
    for wrong in beyond_bounds(document, {"properties": schema["properties"]}):
        asked = {"model": session.model, **body, **wrong}
        if session.dialect.takes(endpoint, asked):
            continue
        exchange = await session.send(endpoint, asked, capped=False)
        tried += 1
        if exchange.status is None or not 400 <= exchange.status < 500:
            taken.append((next(iter(wrong)), exchange))
    if not tried:
        raise NotExercised("the document bounds nothing")
    if taken:
        names = ", ".join(dict.fromkeys(name for name, _ in taken))
        shown = [exchange for _, exchange in taken[:MOST_SHOWN]]
        raise Failed(f"{len(taken)} of {tried} values beyond a bound aren't refused: of {names}", *shown)


async def takes_each(session: Session, endpoint: str, base: Mapping[str, Any], changes: Sequence[Any]) -> None:
    """Each change of the body `base` is answered; see `written_out` for abbreviations of large values."""
    for change in changes:
        await session.answered(endpoint, {**base, **written_out(change)})


async def refuses_each(session: Session, endpoint: str, base: Mapping[str, Any], changes: Sequence[Any]) -> None:
    """Each change makes the body invalid by the document, and is refused."""
    for change in changes:
        exchange = await session.send(endpoint, {**base, **written_out(change)}, capped=False)
        try:
            expect(exchange, {"refused": "validation"}, session.dialect, endpoint)
        except Failed as failed:
            raise Failed(f"{', '.join(change)}: {failed}", *failed.finding.exchanges) from None


def written_out(value: Any) -> Any:
    """Returns the body with `{$fields: 3}` replaced by an object of 3 fields, and `{$long: 3}` by a text of 3
    characters."""
    if isinstance(value, list):
        return [written_out(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "$long" in value:
        return "a" * value["$long"]
    made = {str(number): value.get("$each", "a") for number in range(value.get("$fields", 0))}
    return {**made, **{name: written_out(item) for name, item in value.items() if not name.startswith("$")}}


async def nulls(
    session: Session, endpoint: str, *, body: Mapping[str, Any], fields: Sequence[str] | None = None
) -> None:
    """Null counts as absent: for every optional field of the dialect's document, or for these `fields`."""
    known = [name for name in _nullable(session, endpoint) if name not in body]
    names = known if fields is None else [name for name in known if name in fields]
    if not names:
        raise NotExercised("in the dialect's document none of these may be null")
    exchange = await session.send(endpoint, {**body, **dict.fromkeys(names)}, capped=False)
    if exchange.ok and not exchange.is_stream:
        return
    guilty, shown = [], [exchange]
    for name in names:
        alone = await session.send(endpoint, {**body, name: None}, capped=False)
        if not alone.ok:
            guilty.append(name)
            shown.append(alone)
    if not guilty:
        require_answer(exchange)
        raise Failed("with all of them null, the answer is a stream", exchange)
    raise Failed(f"null is not as good as absent for {', '.join(map(repr, guilty))}", *shown[:5])


async def unknown_field(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """An unknown field is ignored where the dialect ignores such fields. Where it refuses them, both are right:
    compatible servers accept fields of other systems."""
    exchange = await session.send(endpoint, body)
    if session.dialect.unknown_fields == "ignored" or (exchange.status or 0) < 400:
        require_answer(exchange)
    else:
        expect(exchange, {"refused": "validation"}, session.dialect, endpoint)


async def types_named(session: Session, endpoint: str, *, body: Mapping[str, Any], wrong: Mapping[str, Any]) -> None:
    """Where a field's value is refused, the error's param is the field's name. Other cases test that it is refused, and
    other rules that errors have a param."""
    refused = 0
    for name, value in wrong.items():
        exchange = await session.send(endpoint, {**body, name: value})
        if exchange.status is None or not 400 <= exchange.status < 500 or "param" not in exchange.error:
            continue
        refused += 1
        param = str(exchange.error["param"] or "")
        if param.replace("[", ".").split(".")[0] != name:
            shown = exchange.error["param"]
            raise Failed(f"{name} is refused, but error.param is {shown!r}", exchange, advice=NAMES_THE_FIELD)
    if not refused:
        raise NotExercised("no wrong value is refused with an error that has a param")


def _nullable(session: Session, endpoint: str) -> Iterator[str]:
    """Yields the optional fields of the operation's body that the dialect has and that are nullable in its document."""
    dialect = session.dialect
    body = dialect.operations[endpoint].body or {}
    reference = body["$ref"].removeprefix("#")
    schema = resolved(dialect.document, body)
    for name, field in schema["properties"].items():
        if name in schema.get("required", ()) or dialect.level(f"{reference}/properties/{name}", endpoint) in LEFT_OUT:
            continue
        if dialect.shape(field).fits(None):
            yield name
