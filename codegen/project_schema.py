"""Narrows the schemas of a document to the values that one system accepts and sends."""

import re
from collections.abc import Collection
from typing import Any

from specvino.codegen.fields import Field
from specvino.codegen.merge import WITHOUT, Entry, MarkedFields
from specvino.codegen.own_schema import holds, must_be_there, nullable, own_schema
from specvino.document.operations import Schema
from specvino.document.pointers import component_name
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas, descend, objects, references

# Marks a property that the system lacks, until the examples have been checked: none may have it.
GONE: Schema = {"not": {}}


class SchemaProjector:
    """Narrows schemas to one system. `entries` are the system's entries by the identity of the property."""

    def __init__(self, document: dict[str, Any], entries: dict[int, MarkedFields]) -> None:
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self._document = document
        self._marked = entries
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
                # A required, refused property makes the object impossible; an ignored or never sent one doesn't.
                lost = lost or (name in needed and entry["level"] == "refused")
                continue
            lost = not self._narrow_property(properties, name, marked) or lost
            if must_be_there(properties, fields, entry, name in required):
                required.add(name)
            else:
                required.discard(name)
        _remove(schema, gone, required - gone)
        return lost or (bool(needed) and needed <= gone)

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
            around = {key: value for key, value in child.items() if _is_about(key)}
            narrowed = around | self._values(properties, name, entry)
        if entry.get("default") is not None:
            narrowed["default"] = entry["default"]
        if "note" in entry:
            narrowed["description"] = f"{_sentence(child.get('description', ''))} {entry['note']}".strip()
        properties[name] = narrowed
        return True

    def _values(self, properties: dict[str, Schema], name: str, entry: Entry) -> Schema:
        """Returns the schema of a property's values for one field."""
        values = {key: value for key, value in properties[name].items() if not _is_about(key)}
        if "schema" in entry:
            values = own_schema(values, entry["schema"], self._resolved)
        if "nullable" in entry:
            values = nullable(values, holds(entry["nullable"], properties), self._resolved)
        return values

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
