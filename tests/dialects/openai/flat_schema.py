"""Schemas without references and unions: the alternatives that a schema offers, each of one type."""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import component_name, referred

# Names of the components through which an alternative was come to.
NAMES = "x-names"

KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}

COMBINING = ("$ref", "allOf", "anyOf", "oneOf")


def alternatives(document: Mapping[str, Any], schema: Schema, inside: frozenset[str] = frozenset()) -> list[Schema]:
    """Returns the alternatives that a schema offers. One without a `type` takes values of any type.

    What leads back to one of the components `inside` which the schema stands is left out.
    """
    return [each for combined in _combined(document, schema, inside) for each in _by_type(combined)]


def _combined(document: Mapping[str, Any], schema: Schema, inside: frozenset[str]) -> list[Schema]:
    own = {key: value for key, value in schema.items() if key not in COMBINING}
    found = [own]
    if "$ref" in schema:
        name = component_name(schema["$ref"])
        if name in inside:
            return [own | {NAMES: frozenset({name})}] if own else [{NAMES: frozenset({name}), "type": "object"}]
        target = _combined(document, referred(document, schema["$ref"]), inside)
        found = [_merged(a, b | {NAMES: b.get(NAMES, frozenset()) | {name}}) for a in found for b in target]
    for part in schema.get("allOf", ()):
        if "if" not in part:  # a rule between fields, and no values
            found = [_merged(a, b) for a in found for b in _combined(document, part, inside)]
    for keyword in ("anyOf", "oneOf"):
        if branches := schema.get(keyword):
            offered = [each for branch in branches for each in _combined(document, branch, inside)]
            found = [_merged(a, b) for a in found for b in offered]
    return found


def _merged(outer: Schema, inner: Schema) -> Schema:
    """Returns a schema of what both take; of what is said once only, `outer` is heard first."""
    merged = inner | outer
    if "properties" in outer and "properties" in inner:
        merged["properties"] = inner["properties"] | {
            name: {"allOf": [child, inner["properties"][name]]} if name in inner["properties"] else child
            for name, child in outer["properties"].items()
        }
    if "required" in outer and "required" in inner:
        merged["required"] = [*outer["required"], *inner["required"]]
    if "type" in outer and "type" in inner:
        merged["type"] = [kind for kind in _listed(inner["type"]) if kind in _listed(outer["type"])]
    names = outer.get(NAMES, frozenset()) | inner.get(NAMES, frozenset())
    return merged | {NAMES: names} if names else merged


def _by_type(schema: Schema) -> Iterator[Schema]:
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    kinds = _listed(schema["type"]) if "type" in schema else _implied(schema, values)
    if schema.get("nullable") and "null" not in kinds:
        kinds = [*kinds, "null"]
    rest = {key: value for key, value in schema.items() if key not in ("type", "enum", "const", "nullable")}
    for kind in kinds:
        if values is None:
            yield rest | {"type": kind}
        elif fitting := [value for value in values if KINDS[type(value)] == kind or kind == "number"]:
            yield rest | {"type": kind, "enum": fitting}
        elif kind == "null" and schema.get("nullable"):
            yield rest | {"type": kind}
    if not kinds and "type" not in schema:
        yield rest


def _implied(schema: Schema, values: list[Any] | None) -> list[str]:
    if values is not None:
        return list(dict.fromkeys(KINDS[type(value)] for value in values))
    if "properties" in schema:
        return ["object"]
    return ["array"] if "items" in schema else []


def _listed(kinds: str | list[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds
