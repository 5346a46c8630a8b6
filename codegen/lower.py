"""The document as Connexion and the generator of models read it."""

import copy
from typing import Any

from specvino.document.operations import Schema, operations
from specvino.document.pointers import referred
from specvino.document.walk import descend


def to_routes(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the 3.0.3 skeleton for Connexion 3.3 (decision 037): paths, ids, path parameters and security; no
    schemas."""
    paths: dict[str, Any] = {}
    for operation in operations(document):
        definition = operation.definition
        in_path = [_path_parameter(each) for each in operation.parameters_in("path")]
        paths.setdefault(operation.path, {})[operation.method.lower()] = {
            "operationId": operation.id,
            "tags": definition["tags"],
            **({"x-served-at-root": True} if operation.is_also_at_root else {}),
            **({"security": definition["security"]} if "security" in definition else {}),
            **({"parameters": in_path} if in_path else {}),
            "responses": {"200": {"description": "-"}},
        }
    schemes = document["components"]["securitySchemes"]
    return {
        "openapi": "3.0.3",
        "info": {"title": document["info"]["title"], "version": document["info"]["version"]},
        "security": document["security"],
        "paths": paths,
        "components": {
            "securitySchemes": {
                name: {"type": scheme["type"], "scheme": scheme["scheme"]} for name, scheme in schemes.items()
            }
        },
    }


def _path_parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    # `format: path` makes Connexion's router take slashes into the parameter.
    schema = {"type": "string"} | ({"format": "path"} if parameter.get("x-multi-segment") else {})
    return {"name": parameter["name"], "in": parameter["in"], "required": True, "schema": schema}


# What only validates a value. The server has done so by the document before a model is built, so models leave it out:
# they can't disagree with that, and building is quicker.
VALIDATING = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "minProperties", "maxProperties", "propertyNames", "not",
)  # fmt: skip


def for_models(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document as datamodel-code-generator shall see it: the shapes alone.

    It goes without defaults too, so that an absent field stays absent in a model; they are a table of their own. Of the
    titles only those of components are left: the generator would make a class of an inline branch that has one.
    Components that are maps are written where they are used: a dict costs a tenth of an object without fields.
    """
    schemas = copy.deepcopy(document["components"]["schemas"])
    _strip(schemas, names=True)
    maps = {f"#/components/schemas/{name}" for name, schema in schemas.items() if _is_map(schema)}
    schemas = {name: schema for name, schema in schemas.items() if not _is_map(schema)}
    for name, schema in schemas.items():
        schema["title"] = name
        for _, child in descend(schema, name):
            if child.get("$ref") in maps:
                kind = referred(document, child.pop("$ref"))["type"]
                child |= {"type": kind, "additionalProperties": True}
    return {"openapi": "3.1.1", "info": document["info"], "paths": {}, "components": {"schemas": schemas}}


def _is_map(schema: Schema) -> bool:
    holds_objects = "object" in schema.get("type", ()) and "properties" not in schema
    return holds_objects and schema.get("additionalProperties") is True


def _strip(node: Any, names: bool = False) -> None:
    if isinstance(node, list):
        for child in node:
            _strip(child)
    elif isinstance(node, dict):
        if not names:
            for key in [
                key for key in node if key.startswith("x-") or key in (*VALIDATING, "default", "examples", "title")
            ]:
                del node[key]
            rules = node.pop("allOf", ())
            if kept := [rule for rule in rules if "if" not in rule]:
                node["allOf"] = kept
        for key, child in node.items():
            _strip(child, names=not names and key in ("properties", "patternProperties"))
