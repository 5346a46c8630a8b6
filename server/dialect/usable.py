"""What this server can use of a body that the system accepts: systems accept values that mean nothing here."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.loading import validators
from specvino.document.operations import Schema
from specvino.document.pointers import at, escape, schema_reference
from specvino.document.unions import Union, type_names
from specvino.document.validator import Validators
from specvino.server.dialect.shapes import ABSENT
from specvino.server.validation.refusal import Path, dotted

# Arguments of calls are a text with JSON here, and objects in some systems.
JSON_TEXT = "/properties/arguments"


class Usable:
    """A reader of values that are invalid according to a component of our document.

    It leaves out the smallest invalid part: a field, an element of a list, or the field that a broken rule is about. A
    number beyond a bound becomes the bound, except a whole number below it, which stands for "none" or "unlimited" in
    most systems. What is required, but missing or invalid, has the system's default or, if it is a text, is empty.
    Texts and lists aren't cut: a body that is larger than this server accepts stays invalid. `defaults` are those of
    the system, by field of the body.
    """

    def __init__(self, component: str, defaults: Mapping[str, Any], document: Validators | None = None) -> None:
        self._pointer = schema_reference(component).removeprefix("#")
        self._defaults = defaults
        self._validators = document or validators()
        self._unions: dict[str, Union] = {}

    def of(self, body: Any) -> tuple[Any, list[str]]:
        """Returns the usable part of a body, and the names of the fields of which something is missing. A body that is
        too large, or without a usable part, is returned as it is.
        """
        try:
            usable = self._at(self._pointer, body)
        except _TooLargeError:
            return body, []
        if usable is ABSENT or usable is body:
            return body, []
        return usable, [dotted(path) or "" for path in _lost(body, usable, ())]

    def _at(self, pointer: str, value: Any) -> Any:
        if self._fits(pointer, value):
            return value
        schema: Schema = at(self._validators.document, pointer)
        _require_size(schema, value)
        if target := schema.get("$ref"):
            value = self._at(target.removeprefix("#"), value)
        for keyword in ("oneOf", "anyOf"):
            if keyword in schema and value is not ABSENT:
                value = self._in_union(f"{pointer}/{keyword}", schema[keyword], value)
        match value:
            case dict() if pointer.endswith(JSON_TEXT):
                value = json.dumps(value)
            case dict():
                value = self._object(pointer, schema, value)
            case list() if "items" in schema:
                elements = (self._at(f"{pointer}/items", element) for element in value)
                value = [element for element in elements if element is not ABSENT]
            case int() | float() if not isinstance(value, bool):
                value = _within_bounds(schema, value)
        return value if value is not ABSENT and self._fits(pointer, value) else ABSENT

    def _in_union(self, pointer: str, branches: list[Schema], value: Any) -> Any:
        """Returns what the branch that a value is meant for can use: of several lists, the longest."""
        meant = branches
        if isinstance(value, dict):
            if pointer not in self._unions:
                self._unions[pointer] = Union(branches, self._validators.document)
            meant = self._unions[pointer].meant(value)
        used = [
            self._at(f"{pointer}/{index}", value)
            for index, branch in enumerate(branches)
            if any(branch is other for other in meant)
        ]
        used = [part for part in used if part is not ABSENT]
        return max(used, key=lambda part: len(part) if isinstance(part, list) else 0, default=ABSENT)

    def _object(self, pointer: str, schema: Schema, value: dict[str, Any]) -> Any:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        used = {}
        for name, child in value.items():
            if name in properties:
                child = self._at(f"{pointer}/properties/{escape(name)}", child)
            elif isinstance(schema.get("additionalProperties"), dict):
                child = self._at(f"{pointer}/additionalProperties", child)
            if child is not ABSENT:
                used[name] = child
        for name in required:
            if name not in used and name in properties:
                own = self._defaults if pointer == self._pointer else {}
                instead = own.get(name, properties[name].get("const", ""))
                if self._fits(f"{pointer}/properties/{escape(name)}", instead):
                    used[name] = instead
        for index, part in enumerate(schema.get("allOf", ())):
            below = f"{pointer}/allOf/{index}"
            if "x-error" in part and not self._fits(below, used):
                used.pop(part["x-error"]["param"], None)
        return used

    def _fits(self, pointer: str, value: Any) -> bool:
        return self._validators.at(pointer).fits(value)


class _TooLargeError(Exception):
    """A value has more characters, elements or members than this server accepts: less would be another request."""


_MOST: dict[type, str] = {str: "maxLength", list: "maxItems", dict: "maxProperties"}


def _require_size(schema: Schema, value: Any) -> None:
    keyword = _MOST.get(type(value), "")
    if keyword in schema and len(value) > schema[keyword]:
        raise _TooLargeError


def _within_bounds(schema: Schema, value: float) -> Any:
    """Returns the number or the bound that it is beyond; ABSENT for a whole number below the least one."""
    if "minimum" in schema and value < schema["minimum"]:
        return ABSENT if "integer" in type_names(schema) else schema["minimum"]
    return min(value, schema.get("maximum", value))


def _lost(before: Any, after: Any, path: Path) -> Iterator[Path]:
    """Yields the paths of a value's parts that another value doesn't have: of a list with fewer elements, its own."""
    match before, after:
        case dict(), dict():
            for name, child in before.items():
                if name in after:
                    yield from _lost(child, after[name], (*path, name))
                elif child is not None:
                    yield (*path, name)
        case list(), list() if len(before) == len(after):
            for index, child in enumerate(before):
                yield from _lost(child, after[index], (*path, index))
        case dict(), str():
            return  # its JSON
        case _ if before is not None and before != after:
            yield path
