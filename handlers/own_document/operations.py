"""Operations of a server's document: keys, store, and adaptations of links and streams for Schemathesis."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import by_endpoint, operations
from specvino.document.walk import media_types

CREATE = "create_response"


def ask_for_no_key(document: dict[str, Any]) -> None:
    """Removes the key requirement and its errors, for a server without keys."""
    document["security"] = []
    document["components"].pop("securitySchemes", None)
    for operation in operations(document):
        operation.definition.pop("security", None)
        operation.definition["responses"].pop("401", None)


def store_nothing(document: dict[str, Any]) -> None:
    """Removes conversations and the links that need a stored response, for a server that stores nothing."""
    for path in [path for path in document["paths"] if path.startswith("/conversations")]:
        del document["paths"][path]
    create = by_endpoint(document)["responses"]
    create.definition["responses"]["200"].pop("links", None)
    for link in links(document):
        if link["operationId"] == CREATE:
            link["requestBody"].pop("background")


def links(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the links of all answers."""
    for operation in operations(document):
        for answer in operation.definition["responses"].values():
            yield from answer.get("links", {}).values()


def send_bodies_as_they_are(document: dict[str, Any]) -> None:
    """Keeps Schemathesis from adding random fields to the bodies of links, its default (decision 064)."""
    for link in links(document):
        if "requestBody" in link:
            link["x-schemathesis"] = {"merge_body": False}


def say_only_events(document: dict[str, Any]) -> None:
    """Removes the text schema of whole streams from OpenAPI 3.1: Schemathesis applies it to events (decision 064)."""
    for _, media in media_types(document):
        if "x-itemSchema" in media:
            media.pop("schema", None)
