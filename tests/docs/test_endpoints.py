"""The pages of endpoints show what the server with the default model is asked and answers."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
import pytest
from support.examples import masked
from support.portal import SOURCE
from support.serving import Server

from specvino.document.operations import Operation
from specvino.portal.pages import endpoints

_SHOWN = re.compile(r"^\*\*(A request|An answer)\*\*(?: \(([^)]*)\))?\n\n```json\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=300) as client:
        yield client


@cache
def texts() -> dict[str, str]:
    """The pages by their paths."""
    return {page.path: page.text for page in endpoints.pages(SOURCE)}


def shown(endpoint: str) -> dict[str, tuple[str, Any]]:
    """What the endpoint's page shows, by its heading: what is said of it, and the JSON."""
    found = _SHOWN.findall(texts()[f"endpoints/{endpoint}.md"])
    return {heading: (said, json.loads(text)) for heading, said, text in found}


def address(client: httpx.Client, operation: Operation) -> str:
    """With the ids in place: of the model, and of a response, a conversation and an item that are made by the requests
    that their pages show."""
    path = operation.path.replace("{model}", "smollm2")
    if "{conversation_id}" in path:
        id = client.post("/conversations", json=shown("conversations")["A request"][1]).json()["id"]
        path = path.replace("{conversation_id}", id)
        if operation.endpoint in ("conversation_items", "conversation_item", "conversation_item_deletion"):
            items = shown("conversation_items_creation")["A request"][1]
            added = client.post(f"/conversations/{id}/items", json=items).json()
            path = path.replace("{item_id}", added["first_id"])
    if "{response_id}" in path:
        _, body = shown("responses")["A request"]
        # A long answer, which is not whole before it is cancelled.
        story = {"background": True, "input": "Tell me a long story about a journey."}
        background = story if operation.endpoint == "response_cancel" else {}
        path = path.replace("{response_id}", client.post("/responses", json=body | background).json()["id"])
    return path


@pytest.mark.parametrize("operation", SOURCE.operations, ids=lambda operation: operation.endpoint)
def test_the_server_answers_what_the_page_shows(client: httpx.Client, operation: Operation) -> None:
    example = shown(operation.endpoint)
    note, answer = example["An answer"]
    body = example["A request"][1] if "A request" in example else None
    real = client.request(operation.method, address(client, operation), json=body).json()
    if note == "shortened":
        real = shortened(real, answer)
    assert text(real) == text(answer)


def test_every_page_shows_what_is_asked_and_answered() -> None:
    for operation in SOURCE.operations:
        asked = {"A request"} if "requestBody" in operation.definition else set()
        assert shown(operation.endpoint).keys() == asked | {"An answer"}, operation.endpoint


def shortened(whole: Any, part: Any) -> Any:
    """Of a whole what a part of it has, too."""
    return {key: shortened(whole[key], part[key]) for key in part} if isinstance(part, dict) else whole


def text(answer: Any) -> str:
    return masked(json.dumps(answer, indent=2))
