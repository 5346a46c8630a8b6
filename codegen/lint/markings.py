"""What is written at the properties: descriptions, notes, origins, handling or emission, supported values, defaults."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from specvino.codegen.lint.problem import Problem
from specvino.codegen.lint.walk import described, received, sent
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema, operations
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas, closure

ORIGINS = ("openai", "ovms", "vllm", "mlc-llm", "fastdeploy", "specvino")
HANDLING = ("supported", "accepted", "unsupported")


def descriptions(spec: Spec) -> Iterator[Problem]:
    """Every component and every property says what it is."""
    for name, schema in spec.document["components"]["schemas"].items():
        if not schema.get("description"):
            yield Problem("description", name, "needs a description")
        for place, child in _properties(name, schema):
            if not child.get("description"):
                yield Problem("description", place, "needs a description")


def remarks(spec: Spec) -> Iterator[Problem]:
    """A description is true of every system that has the field; x-implementation-note is about this server alone."""
    for place, schema in all_schemas(spec.document):
        remark = schema.get("x-implementation-note", "-")
        if not isinstance(remark, str) or not remark.strip():
            yield Problem("implementation-note", place, f"x-implementation-note is {remark!r}, but must be a text")
        if re.search(r"\bhere\b|\bOpenVINO\b", str(schema.get("description", "")), re.IGNORECASE):
            yield Problem(
                "implementation-note",
                place,
                "the description is about this server: x-implementation-note is the place for that",
            )


def origins(spec: Spec) -> Iterator[Problem]:
    """Every property of requests and answers says who defined it."""
    document = spec.document
    for name in sorted(received(document) | sent(document)):
        for place, child in _properties(name, document["components"]["schemas"][name]):
            if child.get("x-origin") not in ORIGINS:
                found = child.get("x-origin")
                yield Problem("origin", place, f"x-origin is {found!r}, but must be one of {', '.join(ORIGINS)}")


def handling(spec: Spec) -> Iterator[Problem]:
    """Properties of requests have an x-handling, those of answers an x-emit, and neither has what isn't its own."""
    document = spec.document
    taken, given = received(document), sent(document)
    for name in sorted(taken | given):
        for place, child in _properties(name, document["components"]["schemas"][name]):
            handling, emit = child.get("x-handling"), child.get("x-emit")
            if name in taken and handling not in HANDLING:
                yield Problem(
                    "handling", place, f"x-handling is {handling!r}, but must be one of {', '.join(HANDLING)}"
                )
            if name not in taken and handling is not None:
                yield Problem("handling", place, "x-handling is for requests, and no request has this")
            if name in given and not _emission(emit):
                yield Problem("emit", place, f"x-emit is {emit!r}, but must be 'always', 'when …', 'null' or 'never'")
            if name not in given and emit is not None:
                yield Problem("emit", place, "x-emit is for answers, and no answer has this")


def queries(spec: Spec) -> Iterator[Problem]:
    """Query parameters say what they are, who defined them and what becomes of them, as the fields of a body do."""
    for operation in operations(spec.document):
        for each in operation.parameters_in("query"):
            place = f"{operation.place} parameter {each['name']}"
            if not each.get("description"):
                yield Problem("description", place, "needs a description")
            if (origin := each.get("x-origin")) not in ORIGINS:
                yield Problem("origin", place, f"x-origin is {origin!r}, but must be one of {', '.join(ORIGINS)}")
            if (handling := each.get("x-handling")) not in HANDLING:
                yield Problem(
                    "handling", place, f"x-handling is {handling!r}, but must be one of {', '.join(HANDLING)}"
                )


def supported_values(spec: Spec) -> Iterator[Problem]:
    """x-supported-values narrows a field that is supported or unsupported, down to values that its schema accepts."""
    document = spec.document
    validators = Validators(document)
    for name in sorted(closure(document, *document["components"]["schemas"])):
        for place, child in _properties(name, document["components"]["schemas"][name]):
            if "x-supported-values" not in child:
                continue
            supported = child["x-supported-values"]
            if not isinstance(supported, dict) or not jsonschema_rs.meta.is_valid(supported):
                yield Problem("supported-values", place, "x-supported-values is not a valid JSON Schema")
                continue
            if child.get("x-handling") not in ("supported", "unsupported"):
                yield Problem(
                    "supported-values",
                    place,
                    "x-supported-values stands only beside x-handling supported or unsupported",
                )
            for value in [*supported.get("enum", ()), *([supported["const"]] if "const" in supported else [])]:
                if not validators.of(_bare(child)).fits(value):
                    yield Problem(
                        "supported-values", place, f"x-supported-values names {value!r}, which the schema refuses"
                    )
            if "default" in child and not validators.of(supported).fits(child["default"]):
                yield Problem(
                    "supported-values", place, f"the default {child['default']!r} is outside x-supported-values"
                )


def defaults(spec: Spec) -> Iterator[Problem]:
    """A default is a value that the schema accepts."""
    validators = Validators(spec.document)
    for name, schema in spec.document["components"]["schemas"].items():
        for place, child in described(schema, name):
            if "default" in child:
                for fault in validators.of(_bare(child)).violations(child["default"]):
                    yield Problem("default", place, f"the default does not fit: {fault}")


def _properties(name: str, schema: Schema) -> Iterator[tuple[str, Schema]]:
    for place, child in described(schema, name):
        for key, value in child.get("properties", {}).items():
            yield f"{place}/properties/{key}", value


def _emission(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return value in ("always", "null", "never") or (value.startswith("when ") and len(value) > 5)


def _bare(schema: Schema) -> Schema:
    """Without the markings: a validator need not see them."""
    return {key: value for key, value in schema.items() if not key.startswith("x-")}
