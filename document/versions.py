"""A document of OpenAPI 3.1 as one of 3.2."""

from typing import Any


def to_32(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document that `python -m specvino.codegen` wrote in 3.1 as 3.2 has it: the schemas of events stand
    under itemSchema, and the titles of tags under summary."""
    raised: dict[str, Any] = _raised(document)
    tags = [_renamed(tag, "x-displayName", "summary") for tag in raised.get("tags", ())]
    return {**raised, "openapi": "3.2.0", "tags": tags}


def _raised(node: Any) -> Any:
    if isinstance(node, list):
        return [_raised(each) for each in node]
    if not isinstance(node, dict):
        return node
    if "x-itemSchema" in node:  # the schema beside it only says that a stream is a text
        node = _renamed({key: each for key, each in node.items() if key != "schema"}, "x-itemSchema", "itemSchema")
    return {key: _raised(each) for key, each in node.items()}


def _renamed(node: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: each for key, each in node.items()}
