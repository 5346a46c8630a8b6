"""A compacted conversation is what a response would answer, with a request for a summary; compactions replace items."""

from typing import Any

import httpx

from proofs import proves
from proofs.asking import Ask
from proofs.conftest import Run
from proofs.test_input_tokens import FIELDS_OF_TOOLS, IMAGES, tool, with_images
from proofs.test_items import PLACES, user
from specvino.handlers.responses.compaction import INSTRUCTION

Body = dict[str, Any]

TOOLS = ("input[].tools", *(f"input[].tools[].{name}" for name in FIELDS_OF_TOOLS))


def compacted(http: httpx.Client, **fields: Any) -> httpx.Response:
    return http.post("/responses/compact", json={"model": "m", **fields})


def same(http: httpx.Client, **fields: Any) -> None:
    """The prompt is that of a response, with the request for a summary behind it."""
    input = fields.get("input", [])
    items = [user(input)] if isinstance(input, str) else input
    asked = {"model": "m", "temperature": 0, "max_output_tokens": 1, **fields, "input": [*items, user(INSTRUCTION)]}
    response, compaction = http.post("/responses", json=asked), compacted(http, **fields)
    assert compaction.status_code == response.status_code
    if response.is_success:
        assert compaction.json()["usage"]["input_tokens"] == response.json()["usage"]["input_tokens"]
    else:
        assert compaction.json()["error"] == response.json()["error"]


def path(run: Run) -> str:
    return run.field.removeprefix("compact.")


@proves("compact.model")
def test_an_unknown_model(http: httpx.Client) -> None:
    assert http.post("/responses/compact", json={"model": "another", "input": "hello"}).status_code == 404


@proves("compact.input", "compact.instructions")
def test_fields(http: httpx.Client) -> None:
    same(http, input="hello", instructions="the big")


@proves("compact.previous_response_id")
def test_what_it_continues(http: httpx.Client) -> None:
    first = http.post("/responses", json={"model": "m", "input": "capital", "temperature": 0}).json()
    same(http, previous_response_id=first["id"])


@proves(*(f"compact.input[].{name}" for name in (*PLACES, "role")), on="telling")
def test_items(run: Run, http: httpx.Client) -> None:
    name = path(run).removeprefix("input[].")
    same(http, input=[{"role": "system", "content": "who"}] if name == "role" else PLACES[name][:1])


@proves(*(f"compact.{name}" for name in TOOLS))
def test_tools(run: Run, http: httpx.Client) -> None:
    name = path(run).removeprefix("input[].tools").removeprefix("[].")
    items = [{"type": "additional_tools", "tools": [tool(name)]}, user("hello")]
    if name.endswith("strict"):  # a schema doesn't constrain a summary
        headers = compacted(http, input=items).headers
        assert headers.get("x-unsupported-params") == f"input.0.tools.0.{name.replace('[]', '.0')}"
    else:
        same(http, input=items)


@proves("compact.input[].encrypted_content")
def test_encrypted_content(http: httpx.Client) -> None:
    same(http, input=[{"type": "reasoning", "encrypted_content": "x"}, user("hello")])


@proves(*(f"compact.{name}" for name in IMAGES), on="vision")
def test_images(run: Run, http: httpx.Client) -> None:
    same(http, input=[user("hello"), with_images(path(run))])


LONG = [user("hello"), {"role": "assistant", "content": "Hi!"}, user("capital")]


@proves(
    "responses.context_management",
    "responses.context_management[].type",
    "responses.context_management[].compact_threshold",
)
def test_a_long_conversation(ask: Ask) -> None:
    settings = [{"type": "compaction", "compact_threshold": 5}]
    assert ask(input=LONG, context_management=settings).items("compaction")
