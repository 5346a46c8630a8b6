"""The JSON types that a schema admits."""

from collections.abc import Iterable, Mapping
from typing import Any

from specvino.engine.json_schema.refs import resolved

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

STRING = frozenset(["string"])


def types_of_value(value: Any) -> frozenset[str]:
    """Returns the names of the types that a value may have; that of a number may be integer, too."""
    match value:
        case None:
            return frozenset(["null"])
        case bool():
            return frozenset(["boolean"])
        case str():
            return STRING
        case int() | float():
            return frozenset(["number", "integer"])
        case list():
            return frozenset(["array"])
    return frozenset(["object"])


def named_by_all(values: Iterable[str | list[str]]) -> set[str]:
    """Returns the types that all of these values of the keyword `type` admit; a number may be an integer."""
    types = set(TYPES)
    for value in values:
        named = {value} if isinstance(value, str) else set(value)
        types &= named | ({"integer"} if "number" in named else set())
    return types


def admitted_types(schema: Any, root: Mapping[str, Any] | None) -> frozenset[str] | None:
    """Returns the types that a schema admits, as far as it says so plainly; None where any."""
    return AdmittedTypes(root or {}).of(schema)


class AdmittedTypes:
    """Tells the types of several schemas within a root, which need not have been validated.

    Each is looked at once, however often it is referred to.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[int, frozenset[str] | None] = {}

    def of(self, schema: Any) -> frozenset[str] | None:
        """Returns the types that a schema admits, as `admitted_types` does."""
        schema = resolved(schema, self._root)
        if id(schema) not in self._known:
            self._known[id(schema)] = None  # as far as a schema can say that holds itself
            self._known[id(schema)] = self._of(schema)
        return self._known[id(schema)]

    def _of(self, schema: Mapping[str, Any]) -> frozenset[str] | None:
        match schema.get("type"):
            case str(name):
                return frozenset([name])
            case [*names]:
                return frozenset(name for name in names if isinstance(name, str))
        if isinstance(values := schema.get("enum", [schema["const"]] if "const" in schema else None), list):
            return frozenset[str]().union(*map(types_of_value, values))
        for keyword in ("anyOf", "oneOf"):
            if isinstance(branches := schema.get(keyword), list):
                admitted = [self.of(branch) for branch in branches]
                return None if None in admitted else frozenset[str]().union(*filter(None, admitted))
        return None


# What a keyword says of the type where `type` doesn't: only such values are written.
IMPLIED_TYPE = {
    "additionalProperties": "object",
    "items": "array",
    "maxItems": "array",
    "maxLength": "string",
    "maxProperties": "object",
    "minItems": "array",
    "minLength": "string",
    "minProperties": "object",
    "pattern": "string",
    "patternProperties": "object",
    "prefixItems": "array",
    "properties": "object",
    "propertyNames": "object",
    "required": "object",
    "format": "string",
    "maximum": "number",
    "minimum": "number",
    "exclusiveMaximum": "number",
    "exclusiveMinimum": "number",
    "multipleOf": "number",
}
