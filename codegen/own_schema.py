"""The schema of a property's values in another system, based on the structure of ours."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from specvino.codegen.fields import Field
from specvino.codegen.merge import Entry
from specvino.document.operations import Schema
from specvino.document.walk import all_schemas

# The bounds of each type of value.
NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
BOUNDS = {
    "integer": NUMBERS,
    "number": NUMBERS,
    "string": ("minLength", "maxLength", "pattern", "format"),
    "array": ("minItems", "maxItems", "uniqueItems", "contains"),
    "object": ("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
}
ALL_BOUNDS = frozenset(keyword for keywords in BOUNDS.values() for keyword in keywords)


def drop_bounds(document: dict[str, Any]) -> None:
    """Removes bounds, defaults and rules between fields from all schemas, in place.

    They are facts about a server, not about the API; a dialect states those of its system.
    """
    for _, schema in all_schemas(document):
        for keyword in (*ALL_BOUNDS, "default"):
            schema.pop(keyword, None)
        # Nothing else distinguishes a free-form object from the other branches of a union.
        if "properties" in schema or schema.get("not", {}).keys() & {"const", "enum"}:
            schema.pop("not", None)
        if rules := [rule for rule in schema.pop("allOf", ()) if not _is_rule(rule)]:
            schema["allOf"] = rules


def _is_rule(schema: Schema) -> bool:
    return "if" in schema


def must_be_there(properties: dict[str, Schema], fields: Sequence[Field], entry: Entry, ours: bool) -> bool:
    """Returns whether a property, which represents these fields, is required in its object. If the system has no entry,
    our document decides for requests, and for answers that are known to match the description.
    """
    if "required" in entry:
        return holds(entry["required"], properties)
    known = entry["level"] == "full" or "schema" in entry
    return ours and (known or all(field.part == "request" for field in fields))


def holds(required: bool | list[str], properties: dict[str, Schema]) -> bool:
    """Returns whether a statement about all objects, or about some kinds of objects, applies to this one.

    `required: [user, tool]` names the branches of a union by the value that distinguishes them. A branch with several
    values is named by all of them.
    """
    if isinstance(required, bool):
        return required
    values = [[child["const"]] if "const" in child else child.get("enum", []) for child in properties.values()]
    return any(listed and all(value in required for value in listed) for listed in values)


NULL: Schema = {"type": "null"}

# If a schema has only these keywords, the contents of arrays and objects are those of our structure.
PLAIN = {"type", *ALL_BOUNDS}

# Resolves a reference; returns any other schema unchanged.
Resolve = Callable[[Schema], Schema]


def own_schema(ours: Schema, theirs: Schema, resolve: Resolve) -> Schema:
    """Returns the schema of a system's values.

    Both schemas come without the markings of the property. `theirs` is used as it is, unless it has only types and
    bounds: then arrays and objects keep our structure, within the bounds.
    """
    if not theirs.keys() <= PLAIN or "type" not in theirs:
        return dict(theirs)
    kinds = [theirs["type"]] if isinstance(theirs["type"], str) else theirs["type"]
    structured = {kind: list(_structured(ours, kind, resolve)) for kind in kinds}
    if not any(structured.values()):
        return dict(theirs)
    branches: list[Schema] = []
    for kind in kinds:
        bounds = {keyword: theirs[keyword] for keyword in BOUNDS.get(kind, ()) if keyword in theirs}
        branches += [_within(branch, bounds) for branch in structured[kind] or [{"type": kind}]]
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def nullable(schema: Schema, allowed: bool, resolve: Resolve) -> Schema:
    """Returns the schema with null among its values, or without it."""
    if "$ref" in schema:
        if allowed:
            return {"anyOf": [schema, NULL]}
        target = resolve(schema)
        without_null = nullable(target, allowed=False, resolve=resolve)
        return schema if without_null == target else without_null
    changed = dict(schema)
    if "anyOf" in schema:
        branches = [branch for branch in schema["anyOf"] if branch != NULL]
        branches = [*branches, NULL] if allowed else [nullable(branch, False, resolve) for branch in branches]
        return branches[0] if len(branches) == 1 else changed | {"anyOf": branches}
    if "enum" in schema:
        values = [value for value in schema["enum"] if value is not None]
        changed["enum"] = [*values, None] if allowed else values
    elif "const" in schema and allowed:
        changed["enum"] = [changed.pop("const"), None]
    if "type" in schema:
        kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        left = [kind for kind in kinds if kind != "null"] + (["null"] if allowed else [])
        changed["type"] = left[0] if len(left) == 1 else left
    return changed


def _structured(ours: Schema, kind: str, resolve: Resolve) -> Iterator[Schema]:
    """Yields our schemas of the arrays, or of the objects, that a property can be."""
    if kind not in ("array", "object"):
        return
    target = resolve(ours)
    if "anyOf" in target or "oneOf" in target:
        branches: list[Schema] = [*target.get("anyOf", ()), *target.get("oneOf", ())]
        if all(resolve(branch).get("type") == kind for branch in branches):
            yield ours  # the whole union, under its name
            return
        for branch in branches:
            yield from _structured(branch, kind, resolve)
    elif target.get("type") == kind:
        yield ours
    elif kind in target.get("type", ()) and isinstance(target["type"], list):
        yield target | {"type": kind}


def _within(schema: Schema, bounds: Schema) -> Schema:
    if not bounds:
        return schema
    # Few tools support siblings of a reference.
    return {"allOf": [schema, bounds]} if "$ref" in schema else schema | bounds
