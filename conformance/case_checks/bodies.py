"""Checks of request bodies: malformed, with null or unknown fields, with values at and beyond their bounds."""

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


async def malformed_body_handled(
    session: Session,
    endpoint: str,
    *,
    parts: Sequence[Mapping[str, Any]],
    refused: Sequence[str],
    taken: bool = False,
    to: str = "chat",
    headers: Mapping[str, str] | None = None,
) -> None:
    """A body is refused for one of these kinds, or as too large if the system has that refusal; with `taken` it may
    also be accepted. The server stays up. The body is the concatenation of `parts`, each a `text`, in which ${model} is
    the model's name, or `base64`, repeated `times` times."""
    content = b"".join(_part(session, part) for part in parts)
    exchange = await session.raw("POST", paths()[to], content=content, headers=headers)
    too_large = ["too_large"] if session.dialect.statuses("too_large", to) else []
    require_handled(session, exchange, [*refused, *too_large], taken=taken, endpoint=to)
    with about(exchange):
        require_alive(await session.send("models"))


def require_handled(
    session: Session, exchange: Exchange, refused: Sequence[str], *, taken: bool, endpoint: str = "chat"
) -> None:
    """Raises Failed if the request is neither refused properly nor, with `taken`, answered."""
    if taken and exchange.status is not None and exchange.status < 300:
        require_answer(exchange)
        return
    expect(exchange, {"refused": list(refused)}, session.dialect, endpoint)


async def refused_when_streaming(session: Session, endpoint: str, *, to: str, body: Mapping[str, Any]) -> None:
    """A refused request is refused with the same status if it streams, not with a 200 and an error in the stream."""
    unary = await session.send(to, body)
    if unary.ok:
        raise NotExercised("the request isn't refused without stream")
    expect(unary, {"refused": "validation"}, session.dialect, to)
    streamed = await session.send(to, {**body, "stream": True})
    if streamed.status != unary.status:
        beginning = f", and the answer begins with {streamed.content[:120].decode('utf-8', 'replace')!r}"
        raise Failed(
            f"the status is {unary.status} without stream, but {streamed.status} with stream{beginning}", streamed
        )


def _part(session: Session, part: Mapping[str, Any]) -> bytes:
    if "base64" in part:
        content = base64.b64decode(part["base64"])
    else:
        content = part["text"].replace("${model}", json.dumps(session.model)[1:-1]).encode()
    return content * int(part.get("times", 1))


# The largest number of exchanges in a finding.
MAX_EXCHANGES = 5


async def refused_beyond_bounds(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """A value above a bound of the document is refused: a number, text, list, object or property name. Each upper bound
    is checked separately."""
    document = session.dialect.document
    schema = resolved(document, session.dialect.operations[endpoint].body or {})
    checked, accepted = 0, list[tuple[str, Exchange]]()
    for wrong in beyond_bounds(document, {"properties": schema["properties"]}):
        request = {"model": session.model, **body, **wrong}
        if session.dialect.accepts(endpoint, request):
            continue
        exchange = await session.send(endpoint, request, capped=False)
        checked += 1
        if exchange.status is None or not 400 <= exchange.status < 500:
            accepted.append((next(iter(wrong)), exchange))
    if not checked:
        raise NotExercised("the document has no upper bounds")
    if accepted:
        names = ", ".join(dict.fromkeys(name for name, _ in accepted))
        exchanges = [exchange for _, exchange in accepted[:MAX_EXCHANGES]]
        raise Failed(f"{len(accepted)} of {checked} values beyond a bound aren't refused: of {names}", *exchanges)


async def accepts_each(session: Session, endpoint: str, base: Mapping[str, Any], changes: Sequence[Any]) -> None:
    """Each change of the body `base` is answered; `written_out` expands large values."""
    for change in changes:
        await session.answered(endpoint, {**base, **expanded(change)})


async def refuses_each(session: Session, endpoint: str, base: Mapping[str, Any], changes: Sequence[Any]) -> None:
    """Each change makes the body invalid by the document and is refused."""
    for change in changes:
        exchange = await session.send(endpoint, {**base, **expanded(change)}, capped=False)
        try:
            expect(exchange, {"refused": "validation"}, session.dialect, endpoint)
        except Failed as failed:
            raise Failed(f"{', '.join(change)}: {failed}", *failed.finding.exchanges) from None


def expanded(value: Any) -> Any:
    """Returns the body with `{$fields: 3}` replaced by an object of 3 fields, and `{$long: 3}` by a text of 3
    characters."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if "$long" in value:
        return "a" * value["$long"]
    fields = {str(number): value.get("$each", "a") for number in range(value.get("$fields", 0))}
    return {**fields, **{name: expanded(item) for name, item in value.items() if not name.startswith("$")}}


async def null_fields_accepted(
    session: Session, endpoint: str, *, body: Mapping[str, Any], fields: Sequence[str] | None = None
) -> None:
    """Null is the same as absent for every optional field of the dialect's document, or for these `fields`."""
    nullable = [name for name in _nullable(session, endpoint) if name not in body]
    names = nullable if fields is None else [name for name in nullable if name in fields]
    if not names:
        raise NotExercised("none of these fields may be null by the dialect's document")
    exchange = await session.send(endpoint, {**body, **dict.fromkeys(names)}, capped=False)
    if exchange.ok and not exchange.is_stream:
        return
    refused, exchanges = [], [exchange]
    for name in names:
        single = await session.send(endpoint, {**body, name: None}, capped=False)
        if not single.ok:
            refused.append(name)
            exchanges.append(single)
    if not refused:
        require_answer(exchange)
        raise Failed("with null for all optional fields, the answer is a stream", exchange)
    raise Failed(f"null isn't accepted like an absent field for {', '.join(map(repr, refused))}", *exchanges[:5])


async def unknown_field(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """An unknown field is ignored if the dialect ignores such fields. If it refuses them, both are right: compatible
    servers accept fields of other systems."""
    exchange = await session.send(endpoint, body)
    if session.dialect.unknown_fields == "ignored" or (exchange.status or 0) < 400:
        require_answer(exchange)
    else:
        expect(exchange, {"refused": "validation"}, session.dialect, endpoint)


async def error_param_names_field(
    session: Session, endpoint: str, *, body: Mapping[str, Any], wrong: Mapping[str, Any]
) -> None:
    """The error for an invalid field has the field's name in `param`. Other cases check that it is refused, other rules
    that errors have `param`."""
    refused = 0
    for name, value in wrong.items():
        exchange = await session.send(endpoint, {**body, name: value})
        if exchange.status is None or not 400 <= exchange.status < 500 or "param" not in exchange.error:
            continue
        refused += 1
        param = str(exchange.error["param"] or "")
        if param.replace("[", ".").split(".")[0] != name:
            actual = exchange.error["param"]
            raise Failed(f"{name} is refused, but error.param is {actual!r}", exchange, advice=NAMES_THE_FIELD)
    if not refused:
        raise NotExercised("no invalid value is refused with an error that has param")


def _nullable(session: Session, endpoint: str) -> Iterator[str]:
    """Yields the optional fields of the operation's body that the dialect supports and that are nullable in its
    document."""
    dialect = session.dialect
    body = dialect.operations[endpoint].body or {}
    reference = body["$ref"].removeprefix("#")
    schema = resolved(dialect.document, body)
    for name, field in schema["properties"].items():
        if name in schema.get("required", ()) or dialect.level(f"{reference}/properties/{name}", endpoint) in LEFT_OUT:
            continue
        if dialect.validator(field).fits(None):
            yield name
