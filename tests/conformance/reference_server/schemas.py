"""Instances of JSON Schemas, about the smallest there are."""

import math
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from reference_server.patterns import match_of
from specvino.document.pointers import referred

FORMATS = {
    "date": "2000-01-01",
    "time": "12:00:00Z",
    "date-time": "2000-01-01T12:00:00Z",
    "duration": "P1D",
    "email": "a@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
DEEPEST = 16


class Unsatisfiable(Exception):
    """No instance was found."""


def instance(schema: Any) -> Any:
    """A value that the schema accepts. Raises Unsatisfiable, and ValueError where it is no schema."""
    validator = jsonschema_rs.Draft202012Validator(schema)
    value = _Maker(schema).make(schema, 0)
    if not validator.is_valid(value):
        raise Unsatisfiable
    return value


class _Maker:
    def __init__(self, root: Any) -> None:
        self._root = root

    def make(self, schema: Any, depth: int) -> Any:
        if schema is False or depth > DEEPEST:
            raise Unsatisfiable
        if not isinstance(schema, Mapping):
            return {}
        schema = self._merged(schema)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._of_enum(schema)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                rest = {key: value for key, value in schema.items() if key != keyword}
                return self._first(({"allOf": [rest, branch]} for branch in schema[keyword]), depth)
        types = schema.get("type", self._type(schema))
        types = [types] if isinstance(types, str) else types
        return self._first(({**schema, "type": type} for type in types), depth, self._of_type)

    def _first(self, candidates: Any, depth: int, make: Any = None) -> Any:
        for candidate in candidates:
            try:
                return (make or self.make)(candidate, depth + 1)
            except Unsatisfiable:
                continue
        raise Unsatisfiable

    def _merged(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The schema with what it refers to, and all of allOf, in one."""
        merged: dict[str, Any] = {}
        own = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = [own, *schema.get("allOf", ())]
        if "$ref" in schema:
            parts.append(referred(self._root, schema["$ref"]))
        for part in parts:
            if part is False:
                raise Unsatisfiable
            part = part if part is own or not isinstance(part, Mapping) else self._merged(part)
            for key, value in part.items() if isinstance(part, Mapping) else ():
                merged[key] = _both(key, merged[key], value) if key in merged else value
        return merged

    def _of_enum(self, schema: dict[str, Any]) -> Any:
        rest = jsonschema_rs.Draft202012Validator({key: value for key, value in schema.items() if key[0] != "$"})
        allowed = next((value for value in schema["enum"] if rest.is_valid(value)), Unsatisfiable)
        if allowed is Unsatisfiable:
            raise Unsatisfiable
        return allowed

    def _type(self, schema: dict[str, Any]) -> str:
        if schema.keys() & {"items", "prefixItems", "minItems", "maxItems"}:
            return "array"
        if schema.keys() & {"minLength", "maxLength", "pattern", "format"}:
            return "string"
        numeric = schema.keys() & {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
        return "number" if numeric else "object"

    def _of_type(self, schema: dict[str, Any], depth: int) -> Any:
        match schema["type"]:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return self._string(schema)
            case "integer" | "number":
                return self._number(schema)
            case "boolean":
                return True
        return None

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties: Mapping[str, Any] = schema.get("properties", {})
        required = schema.get("required", [])
        names = [name for name in properties if name in required]
        names += [name for name in required if name not in properties]
        names += [name for name in properties if name not in required][
            : max(0, schema.get("minProperties", 0) - len(names))
        ]
        other = schema.get("additionalProperties", True)
        more = max(0, schema.get("minProperties", 0) - len(names)) if other is not False else 0
        names += [f"more{number}" for number in range(more)]
        return {name: self.make(properties.get(name, other), depth + 1) for name in names}

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])[: schema.get("maxItems", 1024)]
        made = [self.make(schema_of_item, depth + 1) for schema_of_item in first]
        while len(made) < schema.get("minItems", 0):
            made.append(self.make(schema.get("items", True), depth + 1))
        return made

    def _string(self, schema: dict[str, Any]) -> str:
        if "format" in schema and schema["format"] in FORMATS:
            return FORMATS[str(schema["format"])]
        if "pattern" in schema:
            return match_of(str(schema["pattern"]))
        return "a" * int(max(schema.get("minLength", 0), min(1, schema.get("maxLength", 1))))

    def _number(self, schema: dict[str, Any]) -> Any:
        step = schema.get("multipleOf", 1 if schema["type"] == "integer" else None)
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        if low is None:
            low = min(0, high) if high is not None else 0
        if step is not None:
            value = math.ceil(low / step) * step
            value += step if value == schema.get("exclusiveMinimum") else 0
            value -= step if value == schema.get("exclusiveMaximum") else 0
            return int(value) if value == int(value) else value
        if low in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")):
            return (low + high) / 2 if high is not None and high != low else low + (1 if low != high else -1)
        return low


def _both(key: str, one: Any, other: Any) -> Any:
    """What two schemas say with one keyword, together."""
    if key == "properties":
        return {
            **one,
            **{
                name: {"allOf": [one[name], subschema]} if name in one else subschema
                for name, subschema in other.items()
            },
        }
    if key == "required":
        return [*one, *(name for name in other if name not in one)]
    if key == "enum":
        return [value for value in one if value in other]
    if key in ("minimum", "minLength", "minItems", "exclusiveMinimum", "minProperties"):
        return max(one, other)
    if key in ("maximum", "maxLength", "maxItems", "exclusiveMaximum", "maxProperties"):
        return min(one, other)
    if key == "type":
        both = [one] if isinstance(one, str) else one
        return [value for value in both if value == other or value in other]
    return other
