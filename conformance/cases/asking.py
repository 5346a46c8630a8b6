"""Finds out what a server is capable of."""

import json
from typing import Any

from specvino.conformance.cases.capabilities import Capability
from specvino.conformance.cases.expect import values_at
from specvino.conformance.cases.session import Session
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.rules.outputs import has_reasoning, outputs
from specvino.conformance.rules.shapes import ERRORS_OUTSIDE
from specvino.conformance.verdict import Failed, NotExercised, Refused

# Statuses with which a server says properly that it can't do something.
UNSUPPORTED = (400, 404, 405, 422, 501)


async def ask(session: Session, capability: Capability) -> None:
    """Finds out whether the server has a capability. Raises Refused or Failed where it hasn't, NotExercised or
    Unreadable where that can't be seen."""
    if capability.check is not None:
        await capability.check(session)
        return
    if capability.is_refused_by(session.dialect):
        raise NotExercised(f"the document of {session.dialect.name} refuses what is asked")
    exchange = await session.send(capability.endpoint, capability.body)
    if exchange.status in UNSUPPORTED and _says_so(session, capability.endpoint, exchange):
        raise Refused(f"the server answers {exchange.status}: {_message(exchange)}")
    if not exchange.ok:
        # Where there is no such path, the error is that of any path that isn't there.
        absent = capability.spec.startswith("/paths/") and exchange.status in (404, 405)
        failed = (exchange.status or 0) >= 500
        why = "fails in place of refusing it" if failed else "refuses it without an error object that says so"
        raise Failed(
            f"the server doesn't do it, and {why}: {exchange}",
            exchange,
            advice=ERRORS_OUTSIDE if absent else None,
        )
    found = values_at(exchange.answer, capability.path)
    if missing := _missing(exchange.answer, capability.path):
        found = []
    if not found or not capability.holds(found[0][1]):
        cut = [output for output in outputs(exchange) if output.reason == "length"]
        if any(has_reasoning(exchange, output) for output in cut):
            raise NotExercised("the model's reasoning used up its tokens")
        if cut and capability.forces_call:
            raise NotExercised("the model talked until its tokens were used up, and might have called something then")
        asked = f"{_asked(capability)} was answered with {exchange.status}, but"
        if missing:
            raise Failed(f"{asked} the answer has no {missing}", exchange)
        raise Failed(f"{asked} {capability.path} is {_cut(found[0][1])}", exchange)


def _missing(answer: Any, path: str) -> str:
    """Returns the beginning of a path at which there is nothing; it is empty where something is at its end."""
    names = path.split(".")
    places = (".".join(names[:depth]) for depth in range(1, len(names) + 1))
    return next((place for place in places if not any(value is not None for _, value in values_at(answer, place))), "")


def _asked(capability: Capability) -> str:
    """Returns the field of the request that asks for the capability: `n: 2`."""
    name = capability.spec.rpartition("/")[2]
    body = capability.body or {}
    return f"{name}: {_cut(body[name])}" if name in body else "the request"


def _cut(value: Any) -> str:
    """Returns a value as JSON, and of a long one its beginning, as one quotation."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else repr(f"{text[:80]}…")


def _says_so(session: Session, endpoint: str, exchange: Exchange) -> bool:
    """Tells whether a refusal says what is wrong: as a JSON object, or in the form that the dialect's errors have."""
    shape = session.dialect.error(endpoint, exchange.status or 0)
    if shape is None and exchange.content:
        return True  # a text
    try:
        return bool(exchange.json and isinstance(exchange.json, dict)) or bool(shape and shape.fits(exchange.json))
    except Unreadable:
        return False


def _message(exchange: Exchange) -> str:
    message = exchange.error.get("message")
    return message[:160] if isinstance(message, str) else exchange.content[:160].decode("utf-8", "replace")
