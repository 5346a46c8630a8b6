"""A field's declarations in a system's classes, as keys of a dialect's entry."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from specvino.codegen.fields import Field
from specvino.codegen.merge import Entry
from specvino.codegen.own_schema import ALL_BOUNDS, BOUNDS, holds, must_be_there
from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.unions import telling, texts, type_names, values

# What references lead into.
Document = Mapping[str, Any]

# The keywords of values without members.
_PLAIN = {"type", "enum", "const", "items", *ALL_BOUNDS}
_ABOUT = {"default", "description", "title", "deprecated", "examples", "discriminator"}


def declared(field: Field, entry: Entry, classes: Sequence[Schema], theirs: Document, ours: Document) -> Entry:
    """Returns what the system's classes state where `entry` doesn't, as far as it differs from our document, whose
    bounds and defaults are those of our server.

    `classes` are the schemas of the objects that can have the field; of a union, those of the same kind count, such as
    `role: user`. `schema` is only derived for types with bounds and for enums, and what isn't certain is left out.
    References lead into `theirs` and `ours`.
    """
    name = field.path.rpartition(".")[2]
    met = [
        (owner, outer, _of_kind(classes, outer["properties"], name, theirs))
        for owner, outer in zip(field.owners, field.objects, strict=True)
        if holds(entry.get("kinds", True), outer["properties"])
    ]
    if not met or not all(same and all(name in cls["properties"] for cls in same) for _, _, same in met):
        return {}
    schemas: list[Schema] = [cls["properties"][name] for _, _, same in met for cls in same]
    result: Entry = {}
    if not entry.keys() & {"schema", "nullable"}:
        plain, *others = [_plain(schema, theirs) for schema in schemas]
        mine = [_plain(owner, ours, bounds=False) for owner, _, _ in met]
        if plain and all(other == plain for other in others) and all(own and _differ(own, plain) for own in mine):
            result["schema"] = plain
        elif not any("x-unread" in leaf for schema in schemas for leaf in _leaves(schema, theirs)):
            takes = [any(_takes_null(cls["properties"][name], theirs) for cls in same) for _, _, same in met]
            result |= _by_kind("nullable", [(outer, _takes_null(owner, ours)) for owner, outer, _ in met], takes)
    if field.part == "request" and "default" not in entry:
        default, *others = [_default(schema, theirs) for schema in schemas]
        if default is not None and all(other == default for other in others):
            result["default"] = default
    if "required" not in entry:
        known = entry | result
        mine_are = [
            (outer, must_be_there(outer["properties"], [field], known, name in outer.get("required", ())))
            for _, outer, _ in met
        ]
        theirs_are = [all(name in cls.get("required", ()) for cls in same) for _, _, same in met]
        result |= _by_kind("required", mine_are, theirs_are)
    return result


def _of_kind(classes: Sequence[Schema], ours: dict[str, Schema], name: str, theirs: Document) -> Sequence[Schema]:
    """Returns the classes of the kind of our object with these properties; if none has a kind, those with the field."""
    has_kinds = False
    for key, mine in ours.items():
        kinds = set(texts(values(mine))) if key != name else set()
        of_kind = [
            cls
            for cls in classes
            for leaf in _leaves(cls["properties"].get(key, {}), theirs)
            if not kinds.isdisjoint(texts(values(leaf)))
        ]
        has_kinds, classes = has_kinds or bool(of_kind), of_kind or classes
    return classes if has_kinds else [cls for cls in classes if name in cls["properties"]]


def _by_kind(key: str, ours: Sequence[tuple[Schema, bool]], theirs: Sequence[bool]) -> Entry:
    """Returns what is true in the system's classes, for objects of ours with what is true in our document: a boolean,
    or the kinds of objects; nothing if it is the same."""
    if [here for _, here in ours] == [*theirs]:
        return {}
    if len({*theirs}) == 1:
        return {key: theirs[0]}
    objects = [outer["properties"] for outer, _ in ours]
    kind = telling([name for name, child in properties.items() if texts(values(child))] for properties in objects)
    kinds = [
        text
        for properties, here in zip(objects, theirs, strict=True)
        if here
        for text in texts(values(properties.get(kind or "", {})))
    ]
    certain = all(holds(kinds, properties) == here for properties, here in zip(objects, theirs, strict=True))
    return {key: list(dict.fromkeys(kinds))} if certain else {}


def _leaves(schema: Schema, document: Document) -> Iterator[Schema]:
    """Yields the branches of a union, each with the keywords beside it."""
    schema = resolved(document, schema)
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    beside = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf", *_ABOUT)}
    for branch in branches:
        for leaf in _leaves(branch, document):
            yield beside | leaf
    if not branches:
        yield beside


def _plain(schema: Schema, document: Document, bounds: bool = True) -> Schema | None:
    """Returns the same schema as types with bounds, or as an enum, with null at the end; None if it is neither."""
    result: Schema = {}
    listed: list[Any] = []
    kinds: list[str] = []
    for leaf in _leaves(schema, document):
        leaf = {key: value for key, value in leaf.items() if key == "x-unread" or not key.startswith("x-")}
        if leaf.keys() - _PLAIN or not leaf.keys() & {"type", "enum", "const"}:
            return None
        if (stated := values(leaf)) is not None:
            listed += stated
            continue
        for kind in type_names(leaf):
            within = {key: leaf[key] for key in BOUNDS.get(kind, ()) if key in leaf and bounds}
            if kind == "array" and "items" in leaf:
                within["items"] = _plain(leaf["items"], document, bounds)
            if kind == "object" or (kind in kinds and kind != "null") or None in within.values():
                return None
            kinds.append(kind)
            result |= within
    null = None in listed or "null" in kinds
    kinds, listed = ([entry for entry in dict.fromkeys(of) if entry not in (None, "null")] for of in (kinds, listed))
    if bool(kinds) == bool(listed):
        return None
    if listed:
        return {"const": listed[0]} if len(listed) == 1 and not null else {"enum": listed + [None] * null}
    return {"type": kinds[0] if len(kinds) == 1 and not null else kinds + ["null"] * null, **result}


def _differ(one: Schema, other: Schema) -> bool:
    """Returns whether two plain schemas differ in more than null, or the order of types and values."""

    def without(schema: Schema) -> Any:
        listed = {json.dumps(entry) for entry in values(schema) or type_names(schema) if entry not in (None, "null")}
        items = without(schema["items"]) if "items" in schema else None
        return listed, items, {key: schema[key] for key in schema.keys() & ALL_BOUNDS}

    return bool(without(one) != without(other))


def _takes_null(schema: Schema, document: Document) -> bool:
    schema = resolved(document, schema)
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    return (
        None in (values(schema) or [None])
        and "null" in (type_names(schema) or ["null"])
        and all(_takes_null(branch, document) for branch in schema.get("allOf", ()))
        and (not branches or any(_takes_null(branch, document) for branch in branches))
        and not ("not" in schema and _takes_null(schema["not"], document))
    )


def _default(schema: Schema, document: Document) -> Any:
    """Returns the default of a property, which may have checks beside it; None if there is none."""
    schema = resolved(document, schema)
    return next((branch["default"] for branch in (schema, *schema.get("allOf", ())) if "default" in branch), None)
