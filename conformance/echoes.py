"""The fields of a request that a response repeats."""

from collections.abc import Mapping
from typing import Any

from specvino.document.pointers import component_name, schema_reference

RESPONSE, REQUEST = "ResponseObject", "CreateResponseRequest"
Schemas = Mapping[str, Any]

NULL = {"type": "null"}


def with_nullable_echoes(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document in which optional members of what a response repeats of its request may be null.

    A request may leave them out, and null says so: `description` of a text format is null in a recorded stream of
    OpenAI's (OpenAIStreamingStructuredOutputTests.swift of SwiftedMind/SwiftAgent), though its document has texts only.
    The result shares everything else with the document.
    """
    schemas = document["components"]["schemas"]
    if REQUEST not in schemas:
        return document
    repeated = schemas[REQUEST]["properties"].keys()
    echoes = _Echoes(schemas)
    changed = {
        name: {**schema, "properties": echoes.members(schema, repeated)}
        for name, schema in schemas.items()
        if schema.get("title") == RESPONSE
    }
    components = {**document["components"], "schemas": {**schemas, **changed, **echoes.copies}}
    return {**document, "components": components}


class _Echoes:
    """`copies` are the components that echoes lead to, under names of their own: requests refer to the same ones."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self.copies: dict[str, Any] = {}

    def members(self, schema: Mapping[str, Any], of: Any = None) -> dict[str, Any]:
        """Returns the properties of a schema, with null for those that are optional; of a response, only for these."""
        required = schema.get("required", ())
        return {
            name: member
            if of is not None and name not in of
            else self._schema(member)
            if name in required
            else {"anyOf": [self._schema(member), NULL]}
            for name, member in schema["properties"].items()
        }

    def _schema(self, schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        changed = dict(schema)
        if "$ref" in schema:
            changed["$ref"] = schema_reference(self._copy(component_name(schema["$ref"])))
        if "properties" in schema:
            changed["properties"] = self.members(schema)
        for keyword in ("items", "additionalProperties"):
            if keyword in schema:
                changed[keyword] = self._schema(schema[keyword])
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in schema:
                changed[keyword] = [self._schema(branch) for branch in schema[keyword]]
        return changed

    def _copy(self, name: str) -> str:
        copy = f"{name}.echoed"
        if copy not in self.copies:
            self.copies[copy] = {}  # a component may refer to itself
            self.copies[copy] = self._schema(self._schemas[name])
        return copy
