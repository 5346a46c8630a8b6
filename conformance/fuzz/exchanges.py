"""Exchanges: what Schemathesis recorded of a request, as the rest of the suite has it."""

import json
from typing import Any
from urllib.parse import urlsplit

from schemathesis.engine.recorder import Interaction

from specvino.conformance.http.exchange import Exchange, Request


def exchange_of(interaction: Interaction, endpoint: str, base_url: str, number: int) -> Exchange:
    """Returns the exchange in a recorded interaction. `number` says after how many requests of the run it came."""
    sent, answer = interaction.request, interaction.response
    parts = urlsplit(sent.uri)
    path = parts.path.removeprefix(urlsplit(base_url).path.rstrip("/")) + (f"?{parts.query}" if parts.query else "")
    headers = {name.lower(): values[0] for name, values in sent.headers.items()}
    request = Request(endpoint, sent.method, path, headers, sent.body, json_of(sent.body))
    if answer is None:
        return Exchange(
            number, request, None, {}, b"", "cut off", 0.0, problem="no answer came", began=interaction.timestamp
        )
    return Exchange(
        number,
        request,
        answer.status_code,
        {name.lower(): values[0] for name, values in answer.headers.items()},
        answer.content,
        "too slow" if answer.stream_cut_short else "complete",
        answer.elapsed,
        began=interaction.timestamp,
    )


def json_of(content: bytes | None) -> Any:
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError):
        return None
