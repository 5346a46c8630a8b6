"""The OpenAPI document as a fuzz run needs it."""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import Operation
from specvino.document.pointers import resolved

Object = Mapping[str, Any]


def refusal_codes(definition: Object) -> set[str]:
    """Returns the error codes with which an operation may refuse a valid request."""
    return {refusal["code"] for refusal in definition.get("x-refusals", ())}


def foldable(document: Object) -> dict[str, Any]:
    """Returns the same document with the rules between fields written so that Schemathesis can make valid bodies.

    It folds `allOf` into the schema around it, but can't fold two conditionals: then it makes a single valid body
    where there should be hundreds. "If A then B" for all rules is "not any (A and not B)".
    """
    schemas = {name: _folded(schema) for name, schema in document["components"]["schemas"].items()}
    return {**document, "components": {**document["components"], "schemas": schemas}}


def with_streams(document: Object) -> dict[str, Any]:
    """Returns a document of OpenAPI 3.1 as one of 3.2, which can describe the events of streams."""
    raised: dict[str, Any] = _raised(document)
    return {**raised, "openapi": "3.2.0"}


def _raised(node: Any) -> Any:
    if isinstance(node, list):
        return [_raised(each) for each in node]
    if not isinstance(node, Mapping):
        return node
    if "x-itemSchema" in node:  # its schema only says that a stream is a text
        return {"itemSchema": node["x-itemSchema"]}
    return {name: _raised(each) for name, each in node.items()}


def _folded(schema: Object) -> Object:
    rules = [part for part in schema.get("allOf", ()) if "if" in part]
    if len(rules) < 2 or "not" in schema or any("else" in rule for rule in rules):
        return schema
    rest = [part for part in schema["allOf"] if "if" not in part]
    kept = {key: value for key, value in schema.items() if key != "allOf"} | ({"allOf": rest} if rest else {})
    return {**kept, "not": {"anyOf": [{"allOf": [rule["if"], {"not": rule["then"]}]} for rule in rules]}}


def body_fields(operation: Operation) -> frozenset[str]:
    """Returns the names of the fields of the operation's JSON body."""
    return frozenset(_properties(operation.document, operation.body or {}))


def _properties(document: Object, schema: Object) -> Iterator[str]:
    schema = resolved(document, schema)
    yield from schema.get("properties", ())
    for part in schema.get("allOf", ()):
        yield from _properties(document, part)
