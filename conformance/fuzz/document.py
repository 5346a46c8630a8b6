"""The OpenAPI document as a fuzz run needs it: refusal codes, fields of bodies, and the rules between fields that
Schemathesis can generate bodies by.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
from jsonschema_rs.canonical import CanonicalKind

from specvino.document.operations import Operation, operations
from specvino.document.pointers import resolved, schema_reference
from specvino.document.transforms import folded

Object = Mapping[str, Any]


def refusal_codes(definition: Object) -> set[str]:
    """Returns the error codes with which an operation may refuse a valid request."""
    return {refusal["code"] for refusal in definition.get("x-refusals", ())}


def body_fields(operation: Operation) -> frozenset[str]:
    """Returns the names of the fields of the operation's JSON body."""
    return frozenset(_properties(operation.document, operation.body or {}))


def _properties(document: Object, schema: Object) -> Iterator[str]:
    schema = resolved(document, schema)
    yield from schema.get("properties", ())
    for part in schema.get("allOf", ()):
        yield from _properties(document, part)


def drawable(document: Object, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Returns the folded document without rules that Schemathesis can't resolve together with the others.

    It would generate no request for an operation with one (decision 064). Generated bodies may break the dropped rules,
    so others check them against the document itself. `wanted` are operationIds; by default all."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    bodies = {
        operation.body_component or "" for operation in operations(document) if wanted is None or operation.id in wanted
    }
    ruled = {name: _spread(schemas[name]) for name in bodies & schemas.keys() if "allOf" in schemas[name]}
    kept = {name: _with(schema, _kept(name, schemas | ruled)) for name, schema in ruled.items()}
    return folded({**document, "components": {**document["components"], "schemas": schemas | kept}})


def _spread(schema: Object) -> Object:
    """Returns the schema with its rules about single fields moved into these: beside an `allOf` Schemathesis varies no
    field. A body without required fields stays unchanged, or whole bodies would be generated until one fits all rules,
    for a minute."""
    if "required" not in schema:
        return schema
    fields = dict(schema["properties"])
    for rule in schema["allOf"]:
        if rule.keys() == {"properties"}:
            for name, more in rule["properties"].items():
                fields[name] = {"allOf": [fields[name], more]} if name in fields else more
    rules = [rule for rule in schema["allOf"] if rule.keys() != {"properties"}]
    return {**schema, "properties": fields, "allOf": rules}


def _with(schema: Object, rules: list[Any]) -> dict[str, Any]:
    """Returns the schema with these rules; an empty `allOf` is left out."""
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    return {**rest, "allOf": rules} if rules else rest


def _kept(name: str, schemas: Object) -> list[Any]:
    """Returns the rules of a body that Schemathesis resolves together, all but as few as possible."""

    def is_worked_out(rules: list[Any]) -> bool:
        """Returns whether Schemathesis resolves the schema: its canonical form isn't the raw schema."""
        document = folded({"components": {"schemas": {**schemas, name: _with(schemas[name], rules)}}})
        form = jsonschema_rs.canonicalize(
            {"$ref": schema_reference(name), **document}, draft=jsonschema_rs.Draft202012, validate_formats=True
        )
        return form.kind is not CanonicalKind.RAW

    rules: list[Any] = schemas[name]["allOf"]
    while rules and not is_worked_out(rules):
        without_one = (rules[:index] + rules[index + 1 :] for index in reversed(range(len(rules))))
        rules = next(filter(is_worked_out, without_one), rules[:-1])
    return rules


def path_parameters(template: str, path: str) -> dict[str, str]:
    """Returns the parameter values in a path that ends in the template, as the server reads them."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(template))
    match = re.search(f"{pattern}$", path)
    return {name: unquote(value) for name, value in match.groupdict().items()} if match else {}
