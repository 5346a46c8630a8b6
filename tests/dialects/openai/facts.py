"""What a schema says of each field, by path: tables in which documents are compared whatever their components are.

A path is that of `specvino.codegen.fields`, and names besides the kind of the object that a field is in, where the
kinds of a union are told apart by `type` or `role`: `messages[](user).content[](text).text`.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialects.openai.flat_schema import NAMES, alternatives

from specvino.document.operations import Schema

NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
# `format` is none: it says how a text is meant, and validators pass it over.
BOUNDS = {
    "integer": NUMBERS,
    "number": NUMBERS,
    "string": ("minLength", "maxLength", "pattern"),
    "array": ("minItems", "maxItems", "uniqueItems"),
    "object": ("minProperties", "maxProperties", "propertyNames"),
}


@dataclass(frozen=True)
class Fact:
    """Describes the values of a field. `types` is `any` where any value will do; `values` are those of an enum."""

    types: tuple[str, ...]
    required: bool = False
    values: tuple[Any, ...] | None = None
    bounds: Mapping[str, Any] = field(default_factory=dict)
    default: Any = None


def facts(document: Mapping[str, Any], schema: Schema, without: Collection[str] = ()) -> dict[str, Fact]:
    """Returns the facts of all fields of a schema, by path; not what is inside the paths `without`."""
    return dict(_facts(document, schema, "", True, frozenset(), without))


def plain(path: str) -> str:
    """Returns a path without the kinds of objects, as dialect files write it."""
    return re.sub(r"\([^)]*\)", "", path).lstrip(".")


def _facts(
    document: Mapping[str, Any],
    schema: Schema,
    path: str,
    required: bool,
    inside: frozenset[str],
    without: Collection[str],
) -> Iterator[tuple[str, Fact]]:
    offered = alternatives(document, schema, inside)
    yield path, _fact(offered, required)
    if plain(path) in without:
        return
    for label, kinds in _labelled(document, offered).items():
        within = inside.union(*(kind.get(NAMES, ()) for kind in kinds))
        around = f"{path}{label}." if path or label else ""
        for name, children in _named(kinds).items():
            needed = all(name in kind.get("required", ()) for kind in kinds)
            yield from _facts(document, _any_of(children), f"{around}{name}", needed, within, without)
        values = [kind["additionalProperties"] for kind in kinds if kind.get("additionalProperties")]
        if values and all(isinstance(each, dict) for each in values):
            yield from _facts(document, _any_of(values), f"{around}*", False, within, without)
    lists = [each for each in offered if each.get("type") == "array" and isinstance(each.get("items"), dict)]
    if lists:
        within = inside.union(*(each.get(NAMES, ()) for each in lists))
        yield from _facts(document, _any_of([each["items"] for each in lists]), f"{path}[]", False, within, without)


def _fact(offered: list[Schema], required: bool) -> Fact:
    scalars = [each for each in offered if each.get("type") not in ("null", "array", "object")]
    closed = bool(scalars) and all("enum" in each for each in scalars)
    values = dict.fromkeys(value for each in scalars for value in each.get("enum", ()))
    defaults = [each["default"] for each in offered if each.get("default") is not None]
    constant = closed and len(values) == 1  # a default of it says nothing
    return Fact(
        types=tuple(sorted({each.get("type", "any") for each in offered})),
        required=required,
        values=tuple(sorted(values, key=str)) if closed else None,
        bounds=_bounds(offered),
        default=defaults[0] if defaults and not constant else None,
    )


def _bounds(offered: list[Schema]) -> dict[str, Any]:
    """Returns the bounds by type and keyword; all of them in a list where alternatives of one type differ."""
    found = {}
    for kind, keywords in BOUNDS.items():
        same_kind = [each for each in offered if each.get("type") == kind and "enum" not in each]
        for keyword in keywords:
            values = [each.get(keyword) for each in same_kind]
            different = [value for index, value in enumerate(values) if value not in values[:index]]
            if different not in ([], [None]):
                found[f"{kind} {keyword}"] = different[0] if len(different) == 1 else different
    return found


def _labelled(document: Mapping[str, Any], offered: list[Schema]) -> dict[str, list[Schema]]:
    """Returns the objects among the alternatives by their kind, in parentheses; empty where nothing says it."""
    found: dict[str, list[Schema]] = {}
    objects = [each for each in offered if each.get("type") == "object"]
    telling = ("type", "role") if len(objects) > 1 else ("type",)
    for each in objects:
        name, kinds, or_null = _told_apart(document, each, telling)
        for kind in kinds:
            properties = each["properties"] | {name: {"allOf": [each["properties"][name]], "enum": [kind, *or_null]}}
            found.setdefault(f"({kind})", []).append(each | {"properties": properties})
        if not kinds:
            found.setdefault("", []).append(each)
    return found


def _told_apart(
    document: Mapping[str, Any], schema: Schema, telling: Collection[str]
) -> tuple[str, list[Any], list[None]]:
    """Returns the property that says of which kind an object is, the kinds that it may be of, and null if it can be."""
    for name in telling:
        if name in schema.get("properties", {}):
            offered = alternatives(document, schema["properties"][name])
            values = [each.get("enum") for each in offered if each.get("type") != "null"]
            if values and None not in values:
                return name, [value for few in values for value in few or ()], [None] * (len(values) < len(offered))
    return "", [], []


def _named(kinds: list[Schema]) -> dict[str, list[Schema]]:
    """Returns the schemas of each property, once for each object that has it. One that fits no value is none."""
    found: dict[str, list[Schema]] = {}
    for kind in kinds:
        for name, child in kind.get("properties", {}).items():
            if child.get("not") != {}:
                found.setdefault(name, []).append(child)
    return found


def _any_of(schemas: list[Schema]) -> Schema:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
