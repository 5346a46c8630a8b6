"""Judges values by the schemas of one document."""

from typing import Any

import jsonschema_rs

from specvino.codegen.schemas import Schema

BASE = "urn:document"


class Judge:
    """Knows the document's components, so that a schema may refer to them."""

    def __init__(self, document: dict[str, Any]) -> None:
        # A registry reads them once; beside each schema they would be read for each, at 15 ms a megabyte.
        components = {"components": {"schemas": document["components"]["schemas"]}}
        self._registry = jsonschema_rs.Registry([(BASE, components)])
        self._named: dict[str, jsonschema_rs.Draft202012Validator] = {}

    def faults(self, schema: Schema, value: Any) -> list[str]:
        """What a schema finds wrong with a value, formats included; empty when nothing."""
        return [
            f"{'.'.join(map(str, error.instance_path)) or 'the value'}: {error.message}"
            for error in self._validator(schema).iter_errors(value)
        ]

    def fits(self, schema: Schema, value: Any) -> bool:
        return self._validator(schema).is_valid(value)

    def _validator(self, schema: Schema) -> jsonschema_rs.Draft202012Validator:
        if schema.keys() != {"$ref"}:
            return self._compile(schema)
        reference = schema["$ref"]
        if reference not in self._named:
            self._named[reference] = self._compile(schema)
        return self._named[reference]

    def _compile(self, schema: Schema) -> jsonschema_rs.Draft202012Validator:
        return jsonschema_rs.Draft202012Validator(_absolute(schema), registry=self._registry, validate_formats=True)


def _absolute(node: Any) -> Any:
    """With references that lead into the registry."""
    if isinstance(node, list):
        return [_absolute(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        key: BASE + value if key == "$ref" and isinstance(value, str) else _absolute(value)
        for key, value in node.items()
    }
