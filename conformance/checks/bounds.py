"""Values that are larger than the document allows, wherever they stand in a request."""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.cases.session import Session
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.verdict import Failed, NotExercised
from specvino.document.beyond_bounds import beyond_bounds
from specvino.document.pointers import resolved

# So many exchanges are shown.
MOST_SHOWN = 5


async def refused_beyond_bounds(session: Session, endpoint: str, *, body: Mapping[str, Any]) -> None:
    """What is larger than the document allows is refused: a number, a text, a list, an object, a property's name. Each
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
