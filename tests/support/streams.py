"""A stream as a client gets it, judged by the document."""

from typing import Any

import httpx

from specvino.conformance.framed import FramedJudge
from specvino.conformance.sse import Decoder
from specvino.generated.handlers import OPERATIONS
from specvino.generated.streams import STREAMS
from specvino.server.gate.schema import Judge, document

_ENDPOINTS = {operation.endpoint: operation for operation in OPERATIONS.values()}


def judged(endpoint: str, response: httpx.Response) -> list[dict[str, Any]]:
    """The events of a whole stream, after each was held against its schema and all against the stream's table."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    decoder, judge, schema = Decoder(), FramedJudge(STREAMS[endpoint]), _event(endpoint)
    events, violations = [], []
    for event in decoder.feed(response.content):
        violations += judge.feed(event)
        if event.data != STREAMS[endpoint].terminator:
            events.append(event.json())
            schema.require(events[-1])
    assert [*violations, *judge.end()] == []
    assert not decoder.incomplete
    return events


def _event(endpoint: str) -> Judge:
    operation = _ENDPOINTS[endpoint]
    media = document()["paths"][operation.path][operation.method.lower()]["responses"]["200"]["content"]
    return Judge.of_event(media["text/event-stream"])
