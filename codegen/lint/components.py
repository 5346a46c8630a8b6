"""Objects and unions have names, names are used, and references have targets."""

from collections.abc import Iterator
from typing import Any

from specvino.codegen.lint.problem import Problem
from specvino.codegen.spec import Spec
from specvino.document.operations import Schema
from specvino.document.pointers import referred, resolved
from specvino.document.walk import descend, media_types, objects

CONDITIONS = {"if", "then", "else", "not", "contains", "propertyNames"}


def references(spec: Spec) -> Iterator[Problem]:
    """Every reference has a target in the document."""
    for location, node in objects(spec.document):
        targets = [node["$ref"]] if "$ref" in node else []
        targets += node.get("discriminator", {}).get("mapping", {}).values()
        for target in targets:
            try:
                referred(spec.document, target)
            except (KeyError, TypeError):
                yield Problem("reference", location, f"{target} points at nothing")


def titles(spec: Spec) -> Iterator[Problem]:
    """A component's title is its name, which generated classes get."""
    for name, schema in spec.document["components"]["schemas"].items():
        if schema.get("title") != name:
            yield Problem("title", name, f"the title is {schema.get('title')!r}, but must be the name, {name}")


def named(spec: Spec) -> Iterator[Problem]:
    """Bodies, objects with properties, and unions of objects are components."""
    document = spec.document
    for location, media in media_types(document):
        for key in ("schema", "itemSchema"):
            if key in media and "$ref" not in media[key]:
                yield Problem("named", f"{location} {key}", "a body is a named component: refer to one")
    for name, schema in document["components"]["schemas"].items():
        for location, child in descend(schema, name):
            if location == name or CONDITIONS & set(location.split("/")[1:]):
                continue
            if "properties" in child:
                yield Problem("named", location, "an object with properties is a named component: refer to one")
            elif "oneOf" in child or _objects(document, child) > 1:
                yield Problem("named", location, "a union of objects is a named component: refer to one")


def unused(spec: Spec) -> Iterator[Problem]:
    """Every definition is used."""
    document = spec.document
    used = {node["$ref"] for _, node in objects(document) if "$ref" in node}
    for kind, components in document["components"].items():
        for name in components:
            if kind != "securitySchemes" and f"#/components/{kind}/{name}" not in used:
                yield Problem("unused", f"components/{kind}/{name}", "nothing refers to it: use it or delete it")
    for location in spec.unused:
        yield Problem("unused", location, "nothing refers to it: use it or delete it")


def _objects(document: dict[str, Any], schema: Schema) -> int:
    branches = [resolved(document, branch) for branch in schema.get("anyOf", ())]
    return sum("properties" in branch for branch in branches)
