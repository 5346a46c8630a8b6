"""Nothing in a request is unbounded: each missing bound is a way to make a server do unbounded work."""

import re
from collections.abc import Iterator
from typing import Any

from specvino.codegen.exchanged import described, received
from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema, operations

DESCRIBING = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf")


def bounds(spec: Spec) -> Iterator[Problem]:
    for location, schema in _accepted(spec.document):
        if "const" in schema or "enum" in schema:
            continue
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if not types and not any(keyword in schema for keyword in DESCRIBING):
            yield Problem("bounds", location, "accepts anything: a schema in a request needs a type")
        if "string" in types and not _bounds_string(schema):
            yield Problem("bounds", location, "a string needs maxLength, or a pattern from ^ to $ without *, + and |")
        if "integer" in types or "number" in types:
            if not schema.keys() & {"minimum", "exclusiveMinimum"}:
                yield Problem("bounds", location, "a number needs minimum or exclusiveMinimum")
            if not schema.keys() & {"maximum", "exclusiveMaximum"}:
                yield Problem("bounds", location, "a number needs maximum or exclusiveMaximum")
        if "array" in types and "maxItems" not in schema:
            yield Problem("bounds", location, "an array needs maxItems")
        if "object" in types and ("properties" not in schema or schema.get("additionalProperties")):
            if "maxProperties" not in schema:
                yield Problem("bounds", location, "a free-form map needs maxProperties")
            names = schema.get("propertyNames", {})
            if not ("enum" in names or _bounds_string(names)):
                yield Problem(
                    "bounds", location, "a free-form map needs propertyNames with maxLength, enum or a bounding pattern"
                )


def _accepted(document: dict[str, Any]) -> Iterator[tuple[str, Schema]]:
    for name in sorted(received(document)):
        yield from described(document["components"]["schemas"][name], name)
    for operation in operations(document):
        for parameter in operation.parameters:
            if parameter["in"] == "header":  # the HTTP server bounds them, with 431
                continue
            yield from described(parameter["schema"], f"{operation.label} parameter {parameter['name']}")


def _bounds_string(schema: Schema) -> bool:
    if "maxLength" in schema:
        return True
    pattern = schema.get("pattern", "")
    plain = re.sub(r"\[(?:\\.|[^\]\\])*\]", "x", re.sub(r"\\[^\[\]]", "x", pattern))
    return plain.startswith("^") and plain.endswith("$") and not re.search(r"[*+|]|\{\d+,\}", plain)
