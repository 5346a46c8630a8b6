"""Unions: one property determines the branch, inline branches have names, and no example fits two branches."""

import re
from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.components import CONDITIONS
from specvino.codegen.lint.problem import Problem
from specvino.codegen.project import examples
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema
from specvino.document.pointers import referred, resolved
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas


def unions(spec: Spec) -> Iterator[Problem]:
    """oneOf has a discriminator with a complete mapping; each branch requires that property as a const of its own."""
    for location, schema in all_schemas(spec.document):
        if "oneOf" in schema:
            for fault in _faults(spec.document, schema):
                yield Problem("union", location, fault)
        elif "discriminator" in schema:
            yield Problem("union", location, "a discriminator is only allowed next to oneOf")


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
        const = component.get("properties", {}).get(key, {}).get("const")
        if const != value:
            yield f"{target}: {key} must be the const {value!r}, but is {const!r}"
        if key not in component.get("required", ()):
            yield f"{target}: {key} must be required"
    if len(set(branches)) != len(branches):
        yield "a branch is listed twice"


def titled(spec: Spec) -> Iterator[Problem]:
    """An inline branch has a title that works as a class name, unless its value is enough."""
    taken: dict[str, Schema] = {name: {} for name in spec.document["components"]["schemas"]}
    for location, schema in all_schemas(spec.document):
        if CONDITIONS & set(location.split("/")):
            continue
        for index, branch in enumerate(schema.get("anyOf", ())):
            if "$ref" in branch or "const" in branch or branch.get("type") == "null":
                continue
            title = branch.get("title")
            branch_location = f"{location}/anyOf/{index}"
            if not re.fullmatch("[A-Z][A-Za-z0-9]*", title or ""):
                yield Problem(
                    "branch", branch_location, f"the title is {title!r}, but must be a name such as StopTexts"
                )
            elif taken.setdefault(title, branch) != branch:
                yield Problem("branch", branch_location, f"the title {title} is taken by another schema")


def overlaps(spec: Spec) -> Iterator[Problem]:
    """An example that reaches an anyOf fits at most one branch. (oneOf ensures that itself.)"""
    validators = Validators(spec.document)
    for location, schema, example in examples(spec.document):
        for path, union, value in _met(spec.document, validators, schema, example, ()):
            names = [_name(branch) for branch in _leaves(spec.document, union) if validators.of(branch).fits(value)]
            if len(names) > 1:
                at = ".".join(map(str, path)) or "the value"
                yield Problem("overlap", location, f"{at} is in more than one branch: {', '.join(names)}")


def _met(
    document: dict[str, Any], validators: Validators, schema: Schema, value: Any, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], Schema, Any]]:
    """Yields the values inside a value that a union describes, with their location and the union."""
    schema = resolved(document, schema)
    if "anyOf" in schema:
        yield path, schema, value
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for name, child in value.items():
            below = known.get(name, schema.get("additionalProperties"))
            if isinstance(below, dict):
                yield from _met(document, validators, below, child, (*path, name))
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, child in enumerate(value):
            yield from _met(document, validators, schema["items"], child, (*path, index))
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            if "if" not in branch and validators.of(branch).fits(value):
                yield from _met(document, validators, branch, value, path)


def _leaves(document: dict[str, Any], schema: Schema) -> Iterator[Schema]:
    """Yields the branches of a union; nested unions are replaced by their branches."""
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        target = resolved(document, branch)
        if target.keys() & {"anyOf", "oneOf"}:
            yield from _leaves(document, target)
        else:
            yield branch


def _name(schema: Schema) -> str:
    return str(schema.get("$ref", schema.get("title"))).rpartition("/")[2]
