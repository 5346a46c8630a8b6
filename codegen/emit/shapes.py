"""The objects of a request: their fields, and the fields that distinguish the branches of a union."""

from collections.abc import Iterator
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import component_name, resolved
from specvino.document.unions import telling, texts, values
from specvino.document.walk import references

Table = dict[str, dict[str, Any]]


def shapes(document: dict[str, Any], names: list[str]) -> tuple[Table, Table]:
    """Returns the objects of the components `names`, and the unions of objects inside them, by name."""
    schemas = document["components"]["schemas"]
    objects: Table = {}
    unions: Table = {}
    for name in names:
        properties = _properties(document, schemas[name])
        if not properties:
            continue
        objects[name] = {
            "required": sorted(_required(document, schemas[name])),
            "open": schemas[name].get("additionalProperties") is True,
            "values": {
                key: listed for key, child in properties.items() if (listed := values(resolved(document, child)))
            },
            "fields": {
                key: {
                    "handling": child["x-handling"],
                    "shape": _shape(document, child, f"{name}.{key}", unions),
                    "supported_values": child.get("x-supported-values"),
                }
                for key, child in properties.items()
            },
        }
    for union in unions.values():
        _index(union, objects)
    return objects, unions


def query_shape(parameters: list[Schema]) -> dict[str, Any]:
    """Returns query parameters as the fields of an object."""
    fields = {
        parameter["name"]: {
            "handling": parameter["x-handling"],
            "shape": None,
            "supported_values": parameter.get("x-supported-values"),
        }
        for parameter in parameters
    }
    return {"required": [], "values": {}, "open": False, "fields": fields}


def _shape(document: dict[str, Any], schema: Schema, label: str, unions: Table) -> str | None:
    """Returns the component, or the union of components, of the objects in a property's value; None without objects."""
    branches = tuple(dict.fromkeys(_branches(document, schema)))
    components = tuple(name for name in branches if name is not None)
    if not components or len(branches) == 1:
        return components[0] if components else None
    for name in references(schema):  # it has a name, unless it combines a list of one kind with an object of another
        if tuple(dict.fromkeys(_branches(document, {"$ref": f"#/components/schemas/{name}"}))) == branches:
            label = name
    unions[label] = {"branches": components}
    return label


def _branches(document: dict[str, Any], schema: Schema) -> Iterator[str | None]:
    """Yields the components of objects that a value, or its elements, can be, in the order in which they are tried;
    None stands for a free-form map.
    """
    target = resolved(document, schema)
    if _properties(document, target):
        yield component_name(schema["$ref"])
        return
    if "object" in target.get("type", ()):
        yield None
    for child in (target.get("items"), *target.get("anyOf", ()), *target.get("oneOf", ())):
        if isinstance(child, dict):
            yield from _branches(document, child)


def _properties(document: dict[str, Any], schema: Schema) -> dict[str, Schema]:
    properties = dict(schema.get("properties", {}))
    for part in schema.get("allOf", ()):
        properties |= _properties(document, resolved(document, part))
    return properties


def _required(document: dict[str, Any], schema: Schema) -> set[str]:
    required = set(schema.get("required", ()))
    return required.union(*(_required(document, resolved(document, part)) for part in schema.get("allOf", ())))


def _index(union: dict[str, Any], objects: Table) -> None:
    """Adds the branches to try for each value of the field in which most of them differ."""
    branches = {name: objects[name] for name in union["branches"]}
    known = {
        name: {key: texts(listed) for key, listed in branch["values"].items()} for name, branch in branches.items()
    }
    union["select"] = select = telling(
        [key for key, listed in branch_values.items() if listed] for branch_values in known.values()
    )
    union["variants"] = {
        value: tuple(name for name in branches if value in known[name].get(select, (value,)))
        for value in dict.fromkeys(text for branch_values in known.values() for text in branch_values.get(select, ()))
    }
    union["absent"] = tuple(
        name
        for name, branch in branches.items()
        if select not in branch["required"] or None in branch["values"].get(select, ())
    )
