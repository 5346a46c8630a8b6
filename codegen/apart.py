"""Copies components that a system uses in different ways, such as a tool of chat and of responses."""

import json
from collections.abc import Mapping
from typing import Any

from specvino.codegen.fields import Root, field_name, roots
from specvino.codegen.merge import WITHOUT, Entry
from specvino.document.operations import Schema
from specvino.document.pointers import component_name, schema_reference
from specvino.document.walk import descend, objects

# A temporary key for a dialect's entry for a property.
ENTRY_KEY = "x-said"


def take_apart(document: dict[str, Any], levels: dict[str, Entry]) -> None:
    """Copies components in place, so that each property is one field, or fields with the same entry in the dialect.

    The first copy keeps the name. Inside itself, a component refers to the first copy.
    """
    _Copies(document, levels).run()


def join_same(document: dict[str, Any]) -> None:
    """Removes copies that equal another component of the same title, in place."""
    schemas: dict[str, Schema] = document["components"]["schemas"]
    while True:
        first: dict[str, str] = {}
        same = {}
        for name, schema in schemas.items():
            kept = first.setdefault(json.dumps(schema), name)
            if kept != name and "title" in schema:
                same[name] = kept
        if not same:
            return
        for name in same:
            del schemas[name]
        rename(document, same)


class _Copies:
    def __init__(self, document: dict[str, Any], levels: dict[str, Entry]) -> None:
        self._document = document
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self._levels = levels
        self._names: dict[str, dict[str, str]] = {}
        """The names of the copies of each component, by content."""
        self._copies: dict[str, Schema] = {}
        self._answers: dict[tuple[str, str], str] = {}
        """The first copy in an endpoint's answer, by endpoint and component, which the endpoint's events use, too."""

    def run(self) -> None:
        for root in list(roots(self._document)):
            root.schema.update(_without_said(self._copy(root, root.schema, "", ())))
        self._schemas.update(self._copies)

    def _component(self, root: Root, name: str, path: str, inside: tuple[str, ...]) -> str:
        """Returns the name of the copy for this location."""
        copied = self._copy(root, self._schemas[name], path, (*inside, name))
        names = self._names.setdefault(name, {})
        key = json.dumps(copied, sort_keys=True)
        if key not in names:
            names[key] = self._free(root, name) if names else name
            self._copies[names[key]] = _without_said(copied)
        if root.part == "response":
            self._answers.setdefault((root.endpoint, name), names[key])
            self._answers.setdefault(("", name), names[key])
        return names[key]

    def _free(self, root: Root, name: str) -> str:
        parts = (root.endpoint, *(() if root.part == "request" else (root.part,)))
        base = "".join(word.title() for part in parts for word in part.split("_")) + name
        number = 2
        free = base
        while free in self._schemas or free in self._copies:
            free = f"{base}{number}"
            number += 1
        return free

    def _copy(self, root: Root, schema: Schema, path: str, inside: tuple[str, ...]) -> Schema:
        if "$ref" in schema:
            name = component_name(schema["$ref"])
            if not root.leaves_out(name, path, inside):
                name = self._component(root, name, path, inside)
            elif name not in inside:  # it is described in another part
                name = self._answers.get((root.endpoint, name), self._answers.get(("", name), name))
            return schema | {"$ref": schema_reference(name)}
        copied = dict(schema)
        if "properties" in schema:
            copied["properties"] = {
                name: self._property(root, child, f"{path}.{name}" if path else name, inside)
                for name, child in schema["properties"].items()
            }
        if isinstance(schema.get("items"), dict):
            copied["items"] = self._copy(root, schema["items"], f"{path}[]", inside)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                copied[keyword] = [self._copy(root, branch, path, inside) for branch in schema[keyword]]
                if "discriminator" in schema:
                    new = {
                        old.get("$ref"): now.get("$ref")
                        for old, now in zip(schema[keyword], copied[keyword], strict=True)
                    }
                    mapping = schema["discriminator"]["mapping"]
                    mapping = {value: new.get(target, target) for value, target in mapping.items()}
                    copied["discriminator"] = schema["discriminator"] | {"mapping": mapping}
        return copied

    def _property(self, root: Root, schema: Schema, path: str, inside: tuple[str, ...]) -> Schema:
        entry = self._levels.get(field_name(root.endpoint, root.part, path), {})
        if entry.get("level") not in WITHOUT:  # otherwise its contents don't matter
            schema = self._copy(root, schema, path, inside)
        return schema | {ENTRY_KEY: entry}


def _without_said(schema: Schema) -> Schema:
    """Returns the schema without the dialect's entries in it."""
    for _, child in descend(schema, ""):
        child.pop(ENTRY_KEY, None)
    return schema


def rename(root: Any, names: Mapping[str, str]) -> None:
    """Changes the references in a document or a part of it to components that got other names, in place."""
    references = {schema_reference(name): schema_reference(kept) for name, kept in names.items()}
    for _, node in objects(root):
        if node.get("$ref") in references:
            node["$ref"] = references[node["$ref"]]
        mapping = node.get("discriminator", {}).get("mapping", {})
        for value, target in mapping.items():
            mapping[value] = references.get(target, target)
