"""Runs the steps of a case."""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.conformance.cases.counts import counted
from specvino.conformance.cases.expect import expect, values_at
from specvino.conformance.cases.session import Session, paths
from specvino.conformance.http.exchange import Exchange, Unreadable
from specvino.conformance.verdict import Failed

REFERENCE = re.compile(r"\$\{(\w+)\.([^}]+)\}")


async def run_steps(session: Session, endpoint: str, steps: Sequence[Mapping[str, Any]]) -> None:
    """Raises Failed at the first step whose answer isn't what it has to be."""
    named: dict[str, Exchange] = {}
    for step in steps:
        exchange = await send_step(session, endpoint, _filled(step, named))
        expect(exchange, _filled(step.get("expect", {}), named), session.dialect, endpoint)
        if "name" in step:
            named[step["name"]] = exchange


async def send_step(session: Session, endpoint: str, step: Mapping[str, Any]) -> Exchange:
    """Sends what a step says under `send` or `raw`."""
    if "send" in step:
        return await session.send(endpoint, step["send"], capped=step.get("capped", True))
    raw = step["raw"]
    content = None
    if "text" in raw:
        content = raw["text"].replace("${model}", json.dumps(session.model)[1:-1]).encode()
    elif "base64" in raw:
        content = base64.b64decode(raw["base64"])
    has_body = content is not None or "body" in raw
    own = endpoint if endpoint in paths() and raw.get("path", paths()[endpoint]) == paths()[endpoint] else None
    return await session.raw(
        raw.get("method", "POST" if has_body else "GET"),
        raw.get("path", paths().get(endpoint, "")),
        endpoint=raw.get("endpoint", own),
        body=raw.get("body"),
        content=content,
        headers=raw.get("headers"),
        key=raw.get("key", True),
    )


def _filled(value: Any, named: Mapping[str, Exchange]) -> Any:
    """Returns the value with `${step.path}` replaced by what stands there: within a text by its text, alone by the
    value itself."""
    if isinstance(value, Mapping):
        return {key: _filled(each, named) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, named) for each in value]
    if not isinstance(value, str):
        return value
    if whole := REFERENCE.fullmatch(value):
        return _referred(whole, named)
    return REFERENCE.sub(lambda match: str(_referred(match, named)), value)


def _referred(match: re.Match[str], named: Mapping[str, Exchange]) -> Any:
    exchange = named[match[1]]
    if match[2].startswith("usage."):
        return counted(exchange, match[2].removeprefix("usage."))
    try:
        return values_at(exchange.answer, match[2])[0][1]
    except (Unreadable, IndexError):
        raise Failed(f"the answer has no {match[2]}", exchange) from None
