"""The access log: a line for each exchange, with its id, tokens and times, and never a query, a key or a text."""

import logging
from typing import Any
from urllib.parse import quote

from specvino.server.telemetry import logs
from specvino.server.telemetry.exchange import Exchange

logger = logging.getLogger("specvino.access")

LONGEST = 200
"""How much of a path is shown, in characters."""


def record(exchange: Exchange) -> None:
    """Logs an exchange. JSON has its figures as members, and text as words behind the message (`logs.py`)."""
    path = _path(exchange)
    fields = _fields(exchange)
    words = {logs.TAIL: "".join(f" {name}={_word(value)}" for name, value in fields.items())}
    members = {"client": exchange.client, "method": exchange.method, "path": path, "status": exchange.status}
    message = '%s "%s %s" %d'
    logger.info(message, exchange.client, exchange.method, path, exchange.status, extra=members | fields | words)


def _path(exchange: Exchange) -> str:
    # What a client wrote must not end the line.
    return quote(exchange.path[:LONGEST])


def _fields(exchange: Exchange) -> dict[str, Any]:
    fields: dict[str, Any] = {"request_id": exchange.request_id, "duration": _seconds(exchange.seconds)}
    if not exchange.complete:
        fields["complete"] = False
    generation = exchange.generation
    if error := exchange.error or (generation and generation.error):
        fields["error"] = error
    if generation is not None:
        found = {
            "prompt_tokens": generation.prompt_tokens,
            "completion_tokens": generation.completion_tokens,
            "time_to_first_token": _seconds(generation.first_token),
            "time_per_output_token": _seconds(generation.per_output_token),
            "finish_reason": generation.outcomes,
        }
        fields |= {name: value for name, value in found.items() if value is not None}
    return fields


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
