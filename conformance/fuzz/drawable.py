"""The document with as many rules between fields as Schemathesis can draw bodies by."""

from collections.abc import Collection, Mapping
from typing import Any

import jsonschema_rs
from jsonschema_rs.canonical import CanonicalKind

from specvino.document.operations import operations
from specvino.document.pointers import schema_reference
from specvino.document.transforms import folded

Object = Mapping[str, Any]


def drawable(document: Object, wanted: Collection[str] | None = None) -> dict[str, Any]:
    """Returns the folded document without rules that Schemathesis can't work out beside the others.

    It would make no request of an operation with one (decision 064). What is drawn may break what is left out, so
    others hold it against the document itself. `wanted` are operationIds; without it all are looked at.
    """
    schemas: dict[str, Any] = document["components"]["schemas"]
    bodies = {each.body_component or "" for each in operations(document) if wanted is None or each.id in wanted}
    ruled = {name: _spread(schemas[name]) for name in bodies & schemas.keys() if "allOf" in schemas[name]}
    kept = {name: _with(schema, _kept(name, schemas | ruled)) for name, schema in ruled.items()}
    return folded({**document, "components": {**document["components"], "schemas": schemas | kept}})


def _spread(schema: Object) -> Object:
    """Returns the schema with what its rules say of single fields said by these: beside an `allOf` Schemathesis varies
    no field. A body that needs no field stays, or it would be drawn whole until one keeps all rules, for a minute."""
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
    """Returns the schema with these rules; an `allOf` has one or more."""
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    return {**rest, "allOf": rules} if rules else rest


def _kept(name: str, schemas: Object) -> list[Any]:
    """Returns the rules of a body that Schemathesis works out together, all but as few as possible."""

    def is_worked_out(rules: list[Any]) -> bool:
        """Tells whether the form that Schemathesis draws by is more than the schema as it stands."""
        document = folded({"components": {"schemas": {**schemas, name: _with(schemas[name], rules)}}})
        form = jsonschema_rs.canonicalize(
            {"$ref": schema_reference(name), **document}, draft=jsonschema_rs.Draft202012, validate_formats=True
        )
        return form.kind is not CanonicalKind.RAW

    rules: list[Any] = schemas[name]["allOf"]
    while rules and not is_worked_out(rules):
        without_one = (rules[:place] + rules[place + 1 :] for place in reversed(range(len(rules))))
        rules = next(filter(is_worked_out, without_one), rules[:-1])
    return rules
