"""Unions: which branch a value belongs to can be told from one property."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema
from specvino.document.pointers import referred
from specvino.document.walk import all_schemas


def unions(spec: Spec) -> Iterator[Problem]:
    """oneOf has a discriminator with a complete mapping; each branch requires that property as a const of its own."""
    for place, schema in all_schemas(spec.document):
        if "oneOf" in schema:
            for what in _faults(spec.document, schema):
                yield Problem("union", place, what)
        elif "discriminator" in schema:
            yield Problem("union", place, "a discriminator stands beside oneOf only")


def _faults(document: dict[str, Any], schema: Schema) -> Iterator[str]:
    discriminator = schema.get("discriminator", {})
    key, mapping = discriminator.get("propertyName"), discriminator.get("mapping", {})
    if not key:
        yield "oneOf needs a discriminator with a propertyName and a mapping; for overlapping branches use anyOf"
        return
    branches = [branch.get("$ref") for branch in schema["oneOf"]]
    if None in branches:
        yield "the branches of oneOf are references to named components"
    for branch in filter(None, branches):
        if branch not in mapping.values():
            yield f"the mapping has no value for {branch}"
    for value, target in mapping.items():
        if target not in branches:
            yield f"the mapping's {value} is not a branch"
            continue
        component = referred(document, target)
        found = component.get("properties", {}).get(key, {}).get("const")
        if found != value:
            yield f"{target}: {key} must be the const {value!r}, but is {found!r}"
        if key not in component.get("required", ()):
            yield f"{target}: {key} must be required"
    if len(set(branches)) != len(branches):
        yield "a branch stands twice"
