"""A server that emulates a system takes the bodies that the system's document takes; others that it refuses have the
system's status.

The bodies are drawn from the document: each field at each value worth trying (`verdicts.bodies`).
"""

import asyncio
import json
import re
from functools import cache
from typing import Any

import httpx
import pytest
from support.app import make_app
from support.exhaustive import sampled
from verdicts.bodies import draws

from specvino.document.loading import dialect_file, load, systems
from specvino.document.operations import base_paths, by_endpoint
from specvino.document.validator import Validators
from specvino.engine.scripted import ScriptedEngine
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import OPERATIONS
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits
from specvino.server.dialect import System, speaker
from specvino.server.settings import Settings
from specvino.server.validation.schema import SchemaCheck
from specvino.upstream.openapi_document import of_document
from specvino.upstream.side import Side

USER = {"role": "user", "content": "Hi"}
SCHEMA = {"type": "object"}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}

# Valid bodies of each endpoint, from which others are drawn.
BODIES: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"model": "m", "messages": [USER]},
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Hi"},
                {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
                {"role": "assistant", "content": "Hi", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c", "content": "Hi"},
            ],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
            "tool_choice": "auto",
        },
    ],
    "completions": [{"model": "m", "prompt": "Hi"}],
    "responses": [
        {"model": "m", "input": "Hi"},
        {
            "model": "m",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "Hi"},
            ],
            "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
        },
    ],
    "messages": [
        {"model": "m", "max_tokens": 5, "messages": [USER]},
        {
            "model": "m",
            "max_tokens": 5,
            "messages": [
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "4"}]},
            ],
            "tools": [{"name": "f", "input_schema": SCHEMA}],
        },
    ],
}

# This server's own limits.
LIMITS = (
    ErrorCode.STRING_ABOVE_MAX_LENGTH,
    ErrorCode.ARRAY_ABOVE_MAX_LENGTH,
    ErrorCode.OBJECT_ABOVE_MAX_PROPERTIES,
)

# Where this server is stricter than a document, by endpoint: it generates nothing without a prompt.
STRICTER = {
    "chat": {"messages"},
    "completions": {"prompt", "prompt[]", "prompt[][]"},
    "responses": {"input"},
    "messages": {"messages"},
}

PLACES = [
    f"{name} {endpoint}"
    for name in systems()
    for endpoint in BODIES
    if (endpoint, "request") in of_document(load(dialect_file(name))).parts
]


@cache
def drawn(name: str, endpoint: str, examples: int) -> tuple[list[tuple[str, Any]], list[Any]]:
    """Bodies of a system that its document takes, each with the field that is drawn, and those that it doesn't."""
    described = of_document(load(dialect_file(name)))
    schema = described.parts[endpoint, "request"]
    fits = Validators(described.document).of(schema).fits
    different = {
        json.dumps(draw.body, sort_keys=True): (draw.path.removeprefix("."), draw.body)
        for body in BODIES[endpoint][:examples]
        for draw in draws(Side(described), schema, body)
    }
    taken = [(field, body) for field, body in different.values() if fits(body)]
    return taken, [body for _, body in different.values() if not fits(body)]


@pytest.mark.parametrize("place", sampled(PLACES, "ollama chat", "llama-cpp chat", "vllm chat"))
def test_a_body_that_the_document_takes_is_valid(place: str) -> None:
    name, endpoint = place.split()
    operation = next(operation for operation in OPERATIONS.values() if operation.endpoint == endpoint)
    requests = System(name, ("m",), {}).requests(operation)
    check = SchemaCheck.of_component(operation.body or "")
    assert requests is not None
    refused: dict[str, list[str]] = {}
    taken, _ = drawn(name, endpoint, 2)
    for field, body in taken:
        try:
            usable, _ = requests.usable(requests.read(body))
            check.require(usable)
        except ApiError as error:
            if error.code in LIMITS:
                continue
            refused.setdefault(field, []).append(f"{json.dumps(body)}: {error.message}")
    assert len(taken) > 50
    # The model is another one.
    assert {field: bodies for field, bodies in refused.items() if field not in {"model", *STRICTER[endpoint]}} == {}


# Refusals of what no schema can tell: what the served model and the server's options allow, whether a text is a grammar
# or JSON, which calls and tools a request has, and this server's own limits.
BEYOND_SCHEMAS = re.compile(
    r"which the served model can't read|is not served here|context length|the model's token ids are"
    r"|requires a server started with|can't be used: |the request has no (?:custom )?(?:functions|tools)"
    r"|has no result after it|there is no tool call with this id before it|must have at (?:least|most) \d"
)


@pytest.mark.parametrize("name", sampled(systems(), "ollama"))
def test_bodies_are_answered_or_refused_as_the_document_has_it(name: str) -> None:
    asyncio.run(_compare_answers(name))


async def _compare_answers(name: str) -> None:
    engine, document = ScriptedEngine(), load(dialect_file(name))
    await engine.start()
    app = make_app(engine, Settings(system=speaker(name, {"m": engine}, Limits(), named=True)))
    path = f"{base_paths(document)[0]}{by_endpoint(document)['chat'].path}"
    statuses = document["x-dialect"]["errors"]["statuses"]
    expected = {status for key in ("json", "validation") for status in _listed(statuses[key])}
    taken, untaken = drawn(name, "chat", 1)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        for _, body in taken:
            response = await client.post(path, json=body)
            assert response.is_success or BEYOND_SCHEMAS.search(response.text), f"{body}: {response.text}"
        for body in untaken:
            response = await client.post(path, json=body)
            assert response.status_code in expected or response.is_success, f"{body}: {response.text}"


def _listed(status: int | list[int] | None) -> list[int]:
    return status if isinstance(status, list) else [status] if status else []
