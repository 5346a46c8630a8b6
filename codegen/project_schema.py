"""Narrows the schemas of a document to the values that one system accepts and sends."""

import re
from collections.abc import Collection
from typing import Any

from specvino.codegen.closing import SENT_BACK
from specvino.codegen.fields import Field
from specvino.codegen.merge import WITHOUT, Entry, MarkedFields
from specvino.codegen.own_schema import NULL, holds, must_be_there, nullable, own_schema
from specvino.document.operations import Schema
from specvino.document.pointers import component_name
from specvino.document.unions import texts, values
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas, descend, objects, references

# No value fits it. It means the same as `false`, which OpenAPI 3.0 and some generators can't read.
NEVER: Schema = {"not": {}}

# Marks a property that the system lacks, until the examples have been checked: none may have it.
GONE: Schema = NEVER | {"x-gone": True}


class SchemaProjector:
    """Narrows schemas to one system. `entries` are the system's entries by the identity of the property; `closed` is
    whether the system refuses unknown fields."""

    def __init__(self, document: dict[str, Any], entries: dict[int, MarkedFields], closed: bool) -> None:
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self._document = document
        self._marked = entries
        self._closed = closed
        self._validators = Validators(document)

    def run(self) -> None:
        """Changes the document in place and marks removed parts for `sweep`."""
        lost = {name for name in _inner_first(self._schemas) if self._narrow_object(self._schemas[name])}
        same = {}
        for name, schema in self._schemas.items():
            for _, child in list(descend(schema, name)):
                _drop_branches(child, lost)
            if schema.keys() <= {"$ref", "title", "description"} and "$ref" in schema:
                same[f"#/components/schemas/{name}"] = schema["$ref"]
        _redirect(self._document, same)

    def _narrow_object(self, schema: Schema) -> bool:
        """Returns whether the object is removed as the branch of a union, because no value of it is possible in the
        system.
        """
        properties: dict[str, Schema] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        needed = {name for name in required if "const" not in properties.get(name, {})}
        lost = False
        gone = set()
        kept: dict[str, Schema] = {}
        kinds = texts(values(properties.get("type", {})))
        is_listed = self._is_listed(properties.get("type", {}))
        for name, child in properties.items():
            if id(child) not in self._marked:
                continue
            fields, entry = marked = self._marked[id(child)]
            if not holds(entry.get("kinds", True), properties):  # this kind of object doesn't have it
                gone.add(name)
                needed.discard(name)
                continue
            if entry["level"] in WITHOUT:
                gone.add(name)
                # A required, refused property makes the object impossible; an ignored or never sent one doesn't. If
                # nothing else is required, the system must list the type of object.
                if entry["level"] == "ignored" and is_listed:
                    needed.discard(name)
                lost = lost or (name in needed and entry["level"] == "refused")
                is_closed = self._closed and schema.get("title") not in SENT_BACK
                kept |= _left(name, child, entry, is_closed, holds(entry.get("nullable", False), properties))
                continue
            lost = not self._narrow_property(properties, name, marked) or lost
            if must_be_there(properties, fields, entry, name in required):
                required.add(name)
            else:
                required.discard(name)
        _remove(schema, gone, required - gone)
        # Without some of the object's types, its refused fields may be those of these types, and ignored beside others.
        if set(kinds) <= set(texts(values(properties.get("type", {})))):
            properties |= kept
        return lost or (bool(needed) and needed <= gone)

    def _is_listed(self, kind: Schema) -> bool:
        """Returns whether an object is of one `type`, which the system's entry for it lists."""
        _, entry = self._marked.get(id(kind), ([], {}))
        return "const" in kind and kind["const"] in (values(entry.get("schema", {})) or ())

    def _narrow_property(self, properties: dict[str, Schema], name: str, fields_and_entry: MarkedFields) -> bool:
        """Returns whether any value of the property is left."""
        child = properties[name]
        fields, entry = fields_and_entry
        narrowed = dict(child)
        if any(_selects(field) for field in fields) and child.keys() & {"const", "enum"}:
            # The kind of a union's branch doesn't change; the system either has the branch or not.
            left = [kind for kind in child.get("enum", [child.get("const")]) if self._has(entry, kind)]
            if not left:
                return False
            if "enum" in child:
                narrowed["enum"] = left
        elif entry.keys() & {"schema", "nullable"}:
            narrowed = _about(child, {}) | self._values(properties, name, entry)
        if entry.get("default") is not None:
            narrowed["default"] = entry["default"]
        properties[name] = narrowed | _about(child, entry)
        return True

    def _values(self, properties: dict[str, Schema], name: str, entry: Entry) -> Schema:
        """Returns the schema of a property's values for one field."""
        taken = {key: value for key, value in properties[name].items() if not _is_about(key)}
        if "schema" in entry:
            taken = own_schema(taken, entry["schema"], self._resolved)
        if "nullable" in entry:
            taken = nullable(taken, holds(entry["nullable"], properties), self._resolved)
        return taken

    def _resolved(self, schema: Schema) -> Schema:
        return self._schemas[component_name(schema["$ref"])] if "$ref" in schema else schema

    def _has(self, entry: Entry, kind: Any) -> bool:
        """Returns whether a system accepts or sends values of this kind."""
        return "schema" not in entry or self._validators.of(entry["schema"]).fits(kind)


def _inner_first(schemas: dict[str, Schema]) -> list[str]:
    """Returns the names of components, each after those that it refers to, so that these are final when they are
    inlined."""
    ordered: dict[str, None] = {}
    met: set[str] = set()

    def visit(name: str) -> None:
        if name not in met:
            met.add(name)
            for inner in references(schemas[name]):
                visit(inner)
            ordered[name] = None

    for name in schemas:
        visit(name)
    return list(ordered)


def sweep(document: dict[str, Any]) -> None:
    """Removes the parts that `SchemaProjector` has marked."""
    for _, schema in list(all_schemas(document)):
        if "properties" in schema:
            schema["properties"] = {name: child for name, child in schema["properties"].items() if child != GONE}


def _left(name: str, child: Schema, entry: Entry, is_closed: bool, takes_null: bool) -> dict[str, Schema]:
    """Returns what is left of a property without a use, by name: nothing if it is like an unknown field. is_closed:
    whether the object is without unknown fields."""
    if entry["level"] == "refused" and (takes_null or not is_closed):
        accepted = NULL if takes_null else NEVER
    elif entry["level"] == "ignored" and is_closed:
        accepted = {}
    else:
        return {}
    return {name: _about(child, entry) | accepted}


def _about(child: Schema, entry: Entry) -> Schema:
    """Returns the keywords about a property, with the note of a system's entry in the description."""
    about = {key: value for key, value in child.items() if _is_about(key)}
    if "note" in entry:
        about["description"] = f"{_sentence(child.get('description', ''))} {entry['note']}".strip()
    return about


def _is_about(keyword: str) -> bool:
    """Returns whether a keyword is about a property and not about its values."""
    return keyword in ("description", "deprecated") or keyword.startswith("x-")


def _selects(field: Field) -> bool:
    """Returns whether the field distinguishes the branches of a union."""
    return len({repr(owner["const"]) for owner in field.owners if "const" in owner}) > 1


def _remove(schema: Schema, gone: set[str], required: set[str]) -> None:
    for name in gone:
        schema["properties"][name] = GONE
    named = dict.fromkeys((*schema.pop("required", ()), *schema.get("properties", ())))
    if required:
        schema["required"] = [name for name in named if name in required]


def _drop_branches(schema: Schema, lost: Collection[str]) -> None:
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword, ())
        kept = [branch for branch in branches if component_name(branch.get("$ref", "")) not in lost]
        if not kept or len(kept) == len(branches):
            continue  # if none were left, the system should lack the enclosing field
        schema[keyword] = kept
        if "discriminator" in schema:
            mapping = schema["discriminator"]["mapping"]
            references = [branch["$ref"] for branch in kept]
            schema["discriminator"]["mapping"] = {k: v for k, v in mapping.items() if v in references}
        if len(kept) == 1:
            del schema[keyword]
            schema.pop("discriminator", None)
            for key, value in kept[0].items():
                schema.setdefault(key, value)


def _redirect(document: dict[str, Any], same: dict[str, str]) -> None:
    """Redirects references to a component that only renames another one."""
    for _, node in objects(document):
        while node.get("$ref") in same:
            node["$ref"] = same[node["$ref"]]
        mapping = node.get("discriminator", {}).get("mapping", {})
        for value, target in mapping.items():
            mapping[value] = same.get(target, target)


def _sentence(text: str) -> str:
    text = text.rstrip()
    return text if not text or re.search(r"[.!?…]$", text) else f"{text}."
