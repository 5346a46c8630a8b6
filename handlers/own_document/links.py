"""The links from an operation to those that go on with what it answers."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import operations


def links(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the links of all answers."""
    for operation in operations(document):
        for answer in operation.definition["responses"].values():
            yield from answer.get("links", {}).values()


def send_bodies_as_they_are(document: dict[str, Any]) -> None:
    """Has Schemathesis send the body of a link as it stands: of itself it adds fields by chance (decision 064)."""
    for link in links(document):
        if "requestBody" in link:
            link["x-schemathesis"] = {"merge_body": False}
