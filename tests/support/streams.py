"""A stream as a client gets it, judged by the document."""

import json
from typing import Any

import httpx

from specvino.conformance.streams.sse import Decoder
from specvino.conformance.streams.stream_validator import SseValidator
from specvino.generated.streams import STREAMS
from specvino.server.validation.schema import SchemaCheck

EVENTS = {
    "chat": "ChatCompletionStreamEvent",
    "completions": "CompletionStreamEvent",
    "responses": "ResponseStreamEvent",
    "messages": "AnthropicStreamEvent",
}


def judged(endpoint: str, response: httpx.Response) -> list[dict[str, Any]]:
    """The events of a whole stream, after each was held against its schema and all against the stream's table."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    decoder, judge, schema = Decoder(), SseValidator(STREAMS[endpoint]), SchemaCheck.of_component(EVENTS[endpoint])
    events: list[dict[str, Any]] = []
    violations: list[str] = []
    for event in decoder.feed(response.content):
        violations += judge.feed(event)
        if event.data != STREAMS[endpoint].terminator:
            events.append(json.loads(event.data))
            schema.require(events[-1])
    assert [*violations, *judge.end()] == []
    assert not decoder.incomplete
    return events
