"""The OpenAPI document as a fuzz run needs it."""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import Operation
from specvino.document.pointers import resolved

Object = Mapping[str, Any]


def refusal_codes(definition: Object) -> set[str]:
    """Returns the error codes with which an operation may refuse a valid request."""
    return {refusal["code"] for refusal in definition.get("x-refusals", ())}


def body_fields(operation: Operation) -> frozenset[str]:
    """Returns the names of the fields of the operation's JSON body."""
    return frozenset(_properties(operation.document, operation.body or {}))


def _properties(document: Object, schema: Object) -> Iterator[str]:
    schema = resolved(document, schema)
    yield from schema.get("properties", ())
    for part in schema.get("allOf", ()):
        yield from _properties(document, part)
