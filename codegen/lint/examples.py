"""Examples: there are enough, and all of them are valid."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.problem import Problem
from specvino.codegen.lint.walk import faults
from specvino.codegen.schemas import Schema, all_schemas, media_types, operations
from specvino.codegen.spec import Spec

PER_REQUEST = 3


def enough(spec: Spec) -> Iterator[Problem]:
    """Three per request body, one per JSON answer. (Those of streams: see streams.py.)"""
    for place, media in media_types(spec.document):
        wanted = PER_REQUEST if " request " in place else 1
        if "itemSchema" not in media and len(media.get("examples", {})) < wanted:
            yield Problem("examples", place, f"has {len(media.get('examples', {}))} examples, but needs {wanted}")


def valid(spec: Spec) -> Iterator[Problem]:
    """Each fits its schema, formats included; in particular, no value is in two branches of a oneOf."""
    for place, schema, value in _all(spec.document):
        for fault in faults(spec.document, schema, value):
            yield Problem("examples", place, fault)


def _all(document: dict[str, Any]) -> Iterator[tuple[str, Schema, Any]]:
    for place, media in media_types(document):
        for name, example in media.get("examples", {}).items():
            yield f"{place} example {name}", media["schema"], example.get("value")
    for path, method, item, operation in operations(document):
        for parameter in (*item.get("parameters", ()), *operation.get("parameters", ())):
            for name, example in parameter.get("examples", {}).items():
                place = f"{method.upper()} {path} parameter {parameter['name']} example {name}"
                yield place, parameter["schema"], example.get("value")
    for place, schema in all_schemas(document):
        for index, value in enumerate(schema.get("examples", ())):
            yield f"{place} example {index}", {k: v for k, v in schema.items() if k != "examples"}, value
