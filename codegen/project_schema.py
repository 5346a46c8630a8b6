"""Brings the schemas of a document down to what one system takes and sends."""

import re
from collections.abc import Collection
from typing import Any

from specvino.codegen.fields import Field
from specvino.codegen.intersect import intersect
from specvino.codegen.merge import WITHOUT, Entry, Said
from specvino.codegen.required_and_defaults import must_be_there, set_default
from specvino.document.operations import Schema
from specvino.document.pointers import component_name
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas, descend, objects

# Stands for a property that the system is without, until the examples have been checked: none may have it.
GONE: Schema = {"not": {}}


class SchemaProjector:
    """Brings schemas down to one system. `said` holds what that system says, by the identity of the property."""

    def __init__(self, document: dict[str, Any], said: dict[int, Said]) -> None:
        self._schemas: dict[str, Schema] = document["components"]["schemas"]
        self._document = document
        self._said = said
        self._validators = Validators(document)

    def run(self) -> None:
        """Changes the document in place; what is gone is marked as such, for `sweep`."""
        lost = {name for name, schema in self._schemas.items() if self._narrow_object(schema)}
        same = {}
        for name, schema in self._schemas.items():
            for _, child in list(descend(schema, name)):
                _drop_branches(child, lost)
            if schema.keys() <= {"$ref", "title", "description"} and "$ref" in schema:
                same[f"#/components/schemas/{name}"] = schema["$ref"]
        _redirect(self._document, same)

    def _narrow_object(self, schema: Schema) -> bool:
        """Tells whether the object is lost as the branch of a union: the system can't have a value of it."""
        properties: dict[str, Schema] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        needed = {name for name in required if "const" not in properties.get(name, {})}
        lost = False
        gone = set()
        for name, child in properties.items():
            said = self._said.get(id(child), [])
            kept = [(field, entry) for field, entry in said if entry["level"] not in WITHOUT]
            if said and not kept:
                gone.add(name)
                # What is refused can't be sent; what is only ignored can, and an answer without it is still one.
                lost = lost or (name in needed and any(entry["level"] == "refused" for _, entry in said))
            elif said:
                lost = not self._narrow_property(properties, name, kept) or lost
                certain = all(_certain(field, entry) for field, entry in said)
                if certain and must_be_there(schema, kept, name in required):
                    required.add(name)
                else:
                    required.discard(name)
        _remove(schema, gone, required - gone)
        return lost or (bool(needed) and needed <= gone)

    def _narrow_property(self, properties: dict[str, Schema], name: str, kept: Said) -> bool:
        """Tells whether a value is left for the property."""
        child = properties[name]
        values = _agreed(kept, "sends") or _agreed(kept, "accepts")
        narrowed = dict(child)
        if any(_selects(field) for field, _ in kept) and child.keys() & {"const", "enum"}:
            # The kind of a union's branch stays what it is; the system has this branch or hasn't.
            kinds = child.get("enum", [child.get("const")])
            left = [kind for kind in kinds if any(self._has(entry, kind) for _, entry in kept)]
            if not left:
                return False
            if "enum" in child:
                narrowed["enum"] = left
        elif _agreed(kept, "sends") is not None:
            narrowed = {key: value for key, value in child.items() if key in ("description", "x-origin")} | values
        elif values is not None:
            narrowed = self._branch(child, values) or intersect(child, values)
        set_default(narrowed, kept, self._validators)
        if note := _agreed(kept, "note"):
            narrowed["description"] = f"{_sentence(child.get('description', ''))} {note}".strip()
        properties[name] = narrowed
        return True

    def _branch(self, child: Schema, values: Schema) -> Schema | None:
        """Returns the one branch of a referenced union that has the type which is left: a plain type, where an allOf of
        both would be beyond many generators."""
        if "$ref" not in child or values.keys() != {"type"}:
            return None
        branches = self._resolved(child).get("anyOf", [])
        kinds = [self._resolved(branch).get("type") for branch in branches]
        if any(not isinstance(kind, str) for kind in kinds) or kinds.count(values["type"]) != 1:
            return None
        branch = branches[kinds.index(values["type"])]
        around = {key: value for key, value in child.items() if key != "$ref"}
        return {key: value for key, value in branch.items() if key != "title"} | around

    def _resolved(self, schema: Schema) -> Schema:
        return self._schemas[component_name(schema["$ref"])] if "$ref" in schema else schema

    def _has(self, entry: Entry, kind: Any) -> bool:
        """Tells whether a system takes or sends something of this kind."""
        values = entry.get("sends", entry.get("accepts"))
        return values is None or self._validators.of(values).fits(kind)


def sweep(document: dict[str, Any]) -> None:
    """Removes what `SchemaProjector` marked as gone."""
    for _, schema in list(all_schemas(document)):
        if "properties" in schema:
            schema["properties"] = {name: child for name, child in schema["properties"].items() if child != GONE}


def _certain(field: Field, entry: Entry) -> bool:
    """Tells whether a system that sends the object always sends the field. (Requests ask the client for it as they
    did.)"""
    if field.part == "request":
        return True
    return entry["level"] == "full" or "sends" in entry


def _selects(field: Field) -> bool:
    """Tells whether the field tells the branches of a union apart."""
    return len({repr(owner["const"]) for owner in field.owners if "const" in owner}) > 1


def _agreed(kept: Said, key: str) -> Any:
    """Returns what all the fields say under a key; None where they differ."""
    first = kept[0][1].get(key)
    return first if all(entry.get(key) == first for _, entry in kept) else None


def _remove(schema: Schema, gone: set[str], required: set[str]) -> None:
    for name in gone:
        schema["properties"][name] = GONE
    named = dict.fromkeys((*schema.pop("required", ()), *schema.get("properties", ())))
    if required:
        schema["required"] = [name for name in named if name in required]
    if not gone:
        return
    if "allOf" in schema:  # a rule between fields is about nothing when one of them is gone
        schema["allOf"] = [rule for rule in schema["allOf"] if "if" not in rule or not gone & _mentioned(rule)]
        if not schema["allOf"]:
            del schema["allOf"]
    for name in list(schema.get("dependentRequired", ())):
        if name in gone or gone & set(schema["dependentRequired"][name]):
            del schema["dependentRequired"][name]


def _mentioned(rule: Schema) -> set[str]:
    """Returns the properties that a rule of an object names."""
    found: set[str] = set()
    for keyword in ("if", "then", "else"):
        for _, schema in descend(rule.get(keyword, {}), ""):
            found |= {*schema.get("required", ()), *schema.get("properties", ())}
    return found


def _drop_branches(schema: Schema, lost: Collection[str]) -> None:
    for keyword in ("anyOf", "oneOf"):
        branches = schema.get(keyword, ())
        kept = [branch for branch in branches if component_name(branch.get("$ref", "")) not in lost]
        if not kept or len(kept) == len(branches):
            continue  # where none would be left, the system should be without the field around
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
    """Lets references to a component that is only another's name lead to that one."""
    for _, node in objects(document):
        while node.get("$ref") in same:
            node["$ref"] = same[node["$ref"]]
        mapping = node.get("discriminator", {}).get("mapping", {})
        for value, target in mapping.items():
            mapping[value] = same.get(target, target)


def _sentence(text: str) -> str:
    text = text.rstrip()
    return text if not text or re.search(r"[.!?…]$", text) else f"{text}."
