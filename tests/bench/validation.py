"""What validation costs per request."""

import contextlib
import json
import time
from collections.abc import Iterator
from typing import Any

from specvino.generated.handlers import OPERATIONS
from specvino.handlers.errors import ApiError
from specvino.server.validation import support
from specvino.server.validation.parsing import parse_json
from specvino.server.validation.schema import SchemaCheck


def validation_times() -> Iterator[str]:
    """A line for each size of body."""
    operation = OPERATIONS["create_chat_completion"]
    check = SchemaCheck.of_component(operation.body or "")
    for name, body in _bodies().items():
        raw = json.dumps(body).encode()
        value = parse_json(raw)
        steps = {
            "JSON": lambda raw=raw: parse_json(raw),
            "schema": lambda value=value: check.require(value),
            "effects": lambda value=value: support.apply("report", value, operation.body or ""),
            "object": lambda value=value: operation.model.model_validate(value),
        }
        shown = ", ".join(f"{step} {_milliseconds(work):.3f}" for step, work in steps.items())
        yield f"validation, {name} ({len(raw)} bytes), ms: {shown}"

    wrong = chat_of([{"role": "user", "content": ["a"] * 1000}] * 200)
    schema = _milliseconds(lambda: _refused(check, wrong))
    yield f"validation, 1 MB that is wrong in 200,000 places, ms: schema {schema:.1f}"


def chat_of(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": "m", "messages": messages}


def _refused(check: SchemaCheck, body: Any) -> None:
    with contextlib.suppress(ApiError):
        check.require(body)


def _bodies() -> dict[str, Any]:
    def chat(count: int, size: int) -> dict[str, Any]:
        messages = [{"role": ("user", "assistant")[i % 2], "content": "x" * size} for i in range(count)]
        return {"model": "m", "messages": messages, "temperature": 0.5, "stop": ["a", "b"], "stream": False}

    return {"10 kB": chat(40, 220), "1 MB of text": chat(10, 100_000), "1 MB of messages": chat(4096, 210)}


def _milliseconds(work: Any) -> float:
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best * 1000
