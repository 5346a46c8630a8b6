"""The OpenAPI document as a fuzz run uses it: refusal codes, body fields, and the rules between fields that
Schemathesis can handle."""

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
    """Returns the error codes by which an operation may refuse a valid request."""
    return {refusal["code"] for refusal in definition.get("x-refusals", ())}


def body_fields(operation: Operation) -> frozenset[str]:
    """Returns the field names of the operation's JSON body."""
    return frozenset(_properties(operation.document, operation.body or {}))


def _properties(document: Object, schema: Object) -> Iterator[str]:
    schema = resolved(document, schema)
    yield from schema.get("properties", ())
    for part in schema.get("allOf", ()):
        yield from _properties(document, part)


def generatable(document: Object, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Returns the folded document without the rules between fields that Schemathesis can't resolve together (decision
    064). With them it would generate no requests. Generated bodies may break dropped rules, so they are validated by
    the original document. `wanted` are operationIds, by default all."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    bodies = {
        operation.body_component or "" for operation in operations(document) if wanted is None or operation.id in wanted
    }
    ruled = {name: _with_field_rules(schemas[name]) for name in bodies & schemas.keys() if "allOf" in schemas[name]}
    kept = {name: _with_rules(schema, _resolvable_rules(name, schemas | ruled)) for name, schema in ruled.items()}
    return folded({**document, "components": {**document["components"], "schemas": schemas | kept}})


def _with_field_rules(schema: Object) -> Object:
    """Returns the schema with rules for single fields moved into the fields: next to an `allOf`, Schemathesis doesn't
    vary fields. A body without required fields stays unchanged, since generating one that satisfies all rules would
    take a minute."""
    if "required" not in schema:
        return schema
    fields = dict(schema["properties"])
    for rule in schema["allOf"]:
        if rule.keys() == {"properties"}:
            for name, more in rule["properties"].items():
                fields[name] = {"allOf": [fields[name], more]} if name in fields else more
    rules = [rule for rule in schema["allOf"] if rule.keys() != {"properties"}]
    return {**schema, "properties": fields, "allOf": rules}


def _with_rules(schema: Object, rules: list[Any]) -> dict[str, Any]:
    """Returns the schema with these rules as `allOf`, which is left out if empty."""
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    return {**rest, "allOf": rules} if rules else rest


def _resolvable_rules(name: str, schemas: Object) -> list[Any]:
    """Returns the rules of a body that Schemathesis can resolve together, dropping as few as possible."""

    def is_resolvable(rules: list[Any]) -> bool:
        """Returns whether Schemathesis resolves the schema: its canonical form isn't RAW."""
        document = folded({"components": {"schemas": {**schemas, name: _with_rules(schemas[name], rules)}}})
        form = jsonschema_rs.canonicalize(
            {"$ref": schema_reference(name), **document}, draft=jsonschema_rs.Draft202012, validate_formats=True
        )
        return form.kind is not CanonicalKind.RAW

    rules: list[Any] = schemas[name]["allOf"]
    while rules and not is_resolvable(rules):
        without_one = (rules[:index] + rules[index + 1 :] for index in reversed(range(len(rules))))
        rules = next(filter(is_resolvable, without_one), rules[:-1])
    return rules


def path_parameters(template: str, path: str) -> dict[str, str]:
    """Returns the decoded parameter values of a path that ends with the template."""
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(template))
    match = re.search(f"{pattern}$", path)
    return {name: unquote(value) for name, value in match.groupdict().items()} if match else {}
