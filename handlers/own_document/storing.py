"""A server that stores no responses."""

from typing import Any

from specvino.document.operations import by_endpoint
from specvino.document.pointers import resolved
from specvino.handlers.own_document.links import links

CREATE = "create_response"


def store_nothing(document: dict[str, Any]) -> None:
    """Takes out what needs a stored response: making one in the background, and the links that lead to it."""
    create = by_endpoint(document)["responses"]
    background = resolved(document, create.body)["properties"]["background"]
    background["enum"] = [False, None]
    create.definition["responses"]["200"].pop("links", None)
    for link in links(document):
        if link["operationId"] == CREATE:
            link["requestBody"].pop("background")
