"""The OpenAPI document as a fuzz run needs it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import Operation
from specvino.document.pointers import resolved

Object = Mapping[str, Any]

# Fields of one body that Schemathesis 4.32 draws beside three rules between them; with 151 it draws nothing at all.
MOST_FIELDS = 150


def refusal_codes(definition: Object) -> set[str]:
    """Returns the error codes with which an operation may refuse a valid request."""
    return {refusal["code"] for refusal in definition.get("x-refusals", ())}


def drawable(document: Object) -> dict[str, Any]:
    """Returns the same document with no more fields in an object than Schemathesis can draw (decision 064).

    Of too many, fields that have one schema and no effect on the server stand as one pattern of names, until few enough
    are left.
    """
    schemas = {name: _grouped(schema) for name, schema in document["components"]["schemas"].items()}
    return {**document, "components": {**document["components"], "schemas": schemas}}


def _grouped(schema: Object) -> Object:
    fields: dict[str, Any] = dict(schema.get("properties", {}))
    alike: dict[str, list[str]] = {}
    for name, field in fields.items():
        if field.get("x-handling") == "unsupported" and name not in schema.get("required", ()):
            alike.setdefault(json.dumps(_meaning(field), sort_keys=True), []).append(name)
    patterns: dict[str, Any] = {}
    for meaning, names in sorted(alike.items(), key=lambda each: -len(each[1])):
        if len(fields) <= MOST_FIELDS:
            break
        patterns[f"^(?:{'|'.join(map(re.escape, names))})$"] = json.loads(meaning)
        for name in names:
            del fields[name]
    return {**schema, "properties": fields, "patternProperties": patterns} if patterns else schema


def _meaning(field: Object) -> dict[str, Any]:
    told = ("title", "description", "default", "examples")
    return {key: each for key, each in field.items() if key not in told and not key.startswith("x-")}


def body_fields(operation: Operation) -> frozenset[str]:
    """Returns the names of the fields of the operation's JSON body."""
    return frozenset(_properties(operation.document, operation.body or {}))


def _properties(document: Object, schema: Object) -> Iterator[str]:
    schema = resolved(document, schema)
    yield from schema.get("properties", ())
    for part in schema.get("allOf", ()):
        yield from _properties(document, part)
