"""The values of a property as another system has them, on the structure that ours have."""

from collections.abc import Callable, Iterator

from specvino.codegen.bounds import ALL_BOUNDS, BOUNDS
from specvino.document.operations import Schema

NULL: Schema = {"type": "null"}

# A schema that has no keyword but these leaves it to our structure what is in arrays and objects.
PLAIN = {"type", *ALL_BOUNDS}

# Gives the schema that a reference leads to; any other schema is given back.
Resolve = Callable[[Schema], Schema]


def own_schema(ours: Schema, theirs: Schema, resolve: Resolve) -> Schema:
    """Returns the schema of a system's values.

    Neither has what is said of the property itself. `theirs` is taken as it is, unless it says but types and bounds:
    then the arrays and objects of those types are ours, and within the bounds.
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
        found = nullable(target, allowed=False, resolve=resolve)
        return schema if found == target else found
    changed = dict(schema)
    if "anyOf" in schema:
        branches = [branch for branch in schema["anyOf"] if branch != NULL]
        branches = [*branches, NULL] if allowed else [nullable(each, False, resolve) for each in branches]
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
            yield ours  # all of the union, under its name
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
    # Few tools look at what stands beside a reference.
    return {"allOf": [schema, bounds]} if "$ref" in schema else schema | bounds
