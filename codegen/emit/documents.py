"""The documents, and the skeleton for Connexion's routing, as JSON."""

import json
from typing import Any

from specvino.document.operations import operations


def to_json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def to_routes(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the 3.0.3 skeleton for Connexion 3.3 (decision 037): paths, ids, path parameters and security; no
    schemas."""
    paths: dict[str, Any] = {}
    for operation in operations(document):
        definition = operation.definition
        in_path = [_path_parameter(parameter) for parameter in operation.parameters_in("path")]
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
                name: {key: value for key, value in scheme.items() if key != "description"}
                for name, scheme in schemes.items()
            }
        },
    }


def _path_parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    # With `format: path`, Connexion's router accepts slashes in the parameter.
    schema = {"type": "string"} | ({"format": "path"} if parameter.get("x-multi-segment") else {})
    return {"name": parameter["name"], "in": parameter["in"], "required": True, "schema": schema}
