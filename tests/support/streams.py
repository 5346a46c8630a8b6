"""A stream as a client gets it, judged by the document."""

import json
from typing import Any

import httpx

from specvino.conformance.streams.lines import LineDecoder
from specvino.conformance.streams.sse import Decoder
from specvino.conformance.streams.stream_validator import SseValidator
from specvino.document.operations import FRAMINGS
from specvino.generated.streams import STREAMS
from specvino.server.validation.schema import SchemaCheck

EVENTS = {
    "chat": "ChatCompletionStreamEvent",
    "completions": "CompletionStreamEvent",
    "responses": "ResponseStreamEvent",
    "messages": "AnthropicStreamEvent",
    "ollama_chat": "OllamaChatEvent",
    "ollama_generate": "OllamaGenerateEvent",
}


def judged(endpoint: str, response: httpx.Response) -> list[dict[str, Any]]:
    """The events of a whole stream, after each was held against its schema and all against the stream's table."""
    table, schema = STREAMS[endpoint], SchemaCheck.of_component(EVENTS[endpoint])
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith(FRAMINGS[table.framing])
    decoder, judge = LineDecoder() if table.framing == "lines" else Decoder(), SseValidator(table)
    events: list[dict[str, Any]] = []
    violations: list[str] = []
    for event in decoder.feed(response.content):
        violations += judge.feed(event)
        if event.data != table.terminator:
            events.append(json.loads(event.data))
            schema.require(events[-1])
    assert [*violations, *judge.end()] == []
    assert not decoder.incomplete
    return events
