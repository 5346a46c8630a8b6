"""Fields of a request that say nothing, or nothing that the server knows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.conformance.cases.expect import NAMES_THE_FIELD, expect
from specvino.conformance.cases.session import Session, require_answer
from specvino.conformance.dialect import LEFT_OUT
from specvino.conformance.verdict import Failed, NotExercised
from specvino.document.pointers import resolved


async def nulls(
    session: Session, endpoint: str, *, body: Mapping[str, Any], fields: Sequence[str] | None = None
) -> None:
    """What is null is as if it were absent: every optional field of the dialect's document, or of these `fields`."""
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
    """A field that nobody knows is ignored where the dialect ignores such fields; where it refuses them, that is right
    as well, but not demanded: compatible servers take what others have invented."""
    exchange = await session.send(endpoint, body)
    if session.dialect.unknown_fields == "ignored" or (exchange.status or 0) < 400:
        require_answer(exchange)
    else:
        expect(exchange, {"refused": "validation"}, session.dialect, endpoint)


async def types_named(session: Session, endpoint: str, *, body: Mapping[str, Any], wrong: Mapping[str, Any]) -> None:
    """Where a field's value is refused, the error's param is the field's name. That it is refused, and that errors have
    a param at all, is for others to say."""
    refused = 0
    for name, value in wrong.items():
        exchange = await session.send(endpoint, {**body, name: value})
        if exchange.status is None or not 400 <= exchange.status < 500 or "param" not in exchange.error:
            continue
        refused += 1
        param = str(exchange.error["param"] or "")
        if param.replace("[", ".").split(".")[0] != name:
            said = exchange.error["param"]
            raise Failed(f"{name} is refused, but error.param is {said!r}", exchange, advice=NAMES_THE_FIELD)
    if not refused:
        raise NotExercised("no wrong value is refused with an error that has a param")


def _nullable(session: Session, endpoint: str) -> Iterator[str]:
    """Yields the optional fields of the operation's body that the dialect has, and that may be null in its document."""
    dialect = session.dialect
    body = dialect.operations[endpoint].body or {}
    reference = body["$ref"].removeprefix("#")
    schema = resolved(dialect.document, body)
    for name, field in schema["properties"].items():
        if name in schema.get("required", ()) or dialect.level(f"{reference}/properties/{name}", endpoint) in LEFT_OUT:
            continue
        if dialect.shape(field).fits(None):
            yield name
