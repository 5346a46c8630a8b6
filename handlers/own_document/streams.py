"""Streams in OpenAPI 3.1, which has no word for their events."""

from typing import Any

from specvino.document.walk import media_types


def say_only_events(document: dict[str, Any]) -> None:
    """Takes out that a stream as a whole is a text: Schemathesis expects it of each event (decision 064)."""
    for _, media in media_types(document):
        if "x-itemSchema" in media:
            media.pop("schema", None)
