"""Which requests to two servers are the same."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import quote

from specvino.conformance.endpoints import VARYING, paths
from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.session.session import Session
from specvino.document.loading import whole
from specvino.document.operations import by_endpoint

# The method, the path, the headers and the content of a request, and how many such requests came before it.
Identity = tuple[str, int]


def by_identity(session: Session) -> dict[Identity, Exchange]:
    """Returns a session's exchanges by what identifies their requests at any server: without the server's key, and with
    placeholders for the model's name where it names the model, and for ids and encrypted values of the server's
    answers, but those that a request had first."""
    target = session.client.target
    model = _naming(session.model)
    known: set[str] = set()
    sent = ""
    before: Counter[str] = Counter()
    exchanges: dict[Identity, Exchange] = {}
    for exchange in session.exchanges:
        text = _text(exchange, target)
        sent += text
        text = model.sub("…", text)
        if known:
            ids = "|".join(re.escape(id) for id in sorted(known, key=len, reverse=True))
            text = re.sub(rf"(?<![\w-])(?:{ids})(?![\w-]|\"\s*:)", "…", text)
        exchanges[text, before[text]] = _routed(exchange)
        before[text] += 1
        # In the list of models, the id is the model's name.
        known |= {id for id in _ids(exchange) if id not in known and id != session.model and id not in sent}
    return exchanges


def _naming(model: str) -> re.Pattern[str]:
    """Returns what matches a model's name as the value of `model` in JSON, in a body that is a list of it, or as a
    segment of a path. Elsewhere, the same text means something else: a model may have the name of a field."""
    texts = "|".join(re.escape(json.dumps(model, ensure_ascii=ascii)) for ascii in (True, False))
    segment = re.escape(quote(model, safe=""))
    return re.compile(rf'(?:(?<="model":)\s*|(?<=\n\[))(?:{texts})|(?<=/models/){segment}(?=[/?\s])')


def _routed(exchange: Exchange) -> Exchange:
    """Returns an exchange with the endpoint of its path, which cases about HTTP don't name."""
    request = exchange.request
    if request.endpoint is not None or request.is_message:
        return exchange
    endpoint = _endpoints().get((request.method, request.path.partition("?")[0]))
    return replace(exchange, request=replace(request, endpoint=endpoint))


@cache
def _endpoints() -> dict[tuple[str, str], str]:
    operations = by_endpoint(whole())
    return {(operations[endpoint].method, path): endpoint for endpoint, path in paths().items()}


def _text(exchange: Exchange, target: Target) -> str:
    request = exchange.request
    own = target.credentials(target.key)
    headers = {
        name: value.replace(target.key, "…") if target.key else value
        for name, value in request.headers.items()
        if name not in target.extra and own.get(name) != value
    }
    lines = [request.method, request.path, *(f"{name}: {headers[name]}" for name in sorted(headers))]
    return "\n".join([*lines, (request.content or b"").decode("utf-8", "backslashreplace")])


def _ids(exchange: Exchange) -> Iterator[str]:
    """Yields the ids and the encrypted values of an answer."""
    values: list[Any] = [*exchange.objects] if exchange.is_stream else [_json(exchange)]
    while values:
        value = values.pop()
        if isinstance(value, list):
            values += value
        elif isinstance(value, Mapping):
            for name, member in value.items():
                if not isinstance(member, str):
                    values.append(member)
                elif member and (name == "id" or name.endswith("_id") or name in VARYING):
                    yield member


def _json(exchange: Exchange) -> Any:
    try:
        return exchange.json
    except Unreadable:
        return None
