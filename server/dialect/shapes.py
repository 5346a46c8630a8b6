"""Converts our responses to another system's schema. Fields that the system doesn't have are dropped. A required field
that our response lacks gets the schema's only value, null, or the empty value of its type. IDs are converted to the
system's pattern.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.unions import type_names

Fit = Callable[[Any], Any]

ABSENT: Any = object()
"""Stands for a value that doesn't fit the schema."""

EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}

TYPES: dict[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    list: ("array",),
    dict: ("object",),
    type(None): ("null",),
}


class Shapes:
    """Converters of values to the schemas of one document.

    `computed` has functions for fields that our responses lack and only the server can compute, from the object that
    they belong to, by component and name.
    """

    def __init__(self, document: Schema, computed: Mapping[str, Mapping[str, Fit]]) -> None:
        self._document = document
        self._computed = computed
        self._known: dict[str, Fit] = {}

    def of(self, schema: Schema) -> Fit:
        """Returns a function that converts a value to a schema; it returns ABSENT for a value that doesn't fit."""
        if "$ref" in schema:
            reference = schema["$ref"]
            if reference not in self._known:
                # A component may refer to itself.
                self._known[reference] = lambda value: self._known[reference](value)
                self._known[reference] = self.of(resolved(self._document, schema))
            return lambda value: self._known[reference](value)
        if "const" in schema:
            return lambda _: schema["const"]
        if branches := (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
            return self._union(branches)
        if "enum" in schema:
            return lambda value: value if value in schema["enum"] else ABSENT
        if "allOf" in schema:
            return self._all([self._by_type(schema), *map(self.of, schema["allOf"])])
        return self._by_type(schema)

    def empty(self, schema: Schema) -> Any:
        """Returns the value of a required field that our response lacks."""
        schema = resolved(self._document, schema)
        for keyword in ("const", "default"):
            if keyword in schema:
                return schema[keyword]
        if "enum" in schema:
            return None if None in schema["enum"] else schema["enum"][0]
        branches = [resolved(self._document, branch) for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))]
        types = type_names(schema)
        if "null" in types or any("null" in type_names(branch) for branch in branches):
            return None
        if branches:
            return self.empty(branches[0])
        kind = types[0] if types else "object"
        if kind == "array":
            return [self.empty(schema["items"]) for _ in range(schema.get("minItems", 0))]
        return self.of(schema)({}) if kind == "object" else EMPTY[kind]

    def _by_type(self, schema: Schema) -> Fit:
        types = type_names(schema)
        inside: dict[str, Fit] = {}
        if "properties" in schema or isinstance(schema.get("additionalProperties"), Mapping):
            inside["object"] = self._object(schema)
        if schema.get("maxProperties") == 0:
            inside["object"] = lambda _: {}
        if "items" in schema:
            inside["array"] = self._array(schema)
        if "pattern" in schema:
            inside["string"] = patterned(schema["pattern"])
        if "minimum" in schema:
            inside |= dict.fromkeys(("integer", "number"), lambda value: max(value, schema["minimum"]))

        def fit(value: Any) -> Any:
            kinds = TYPES[type(value)]
            if types and not set(kinds) & set(types):
                if isinstance(value, str) and "object" in types:
                    return _parsed(value)  # arguments of calls are objects in some systems
                return None if value is not None and types == ["null"] else ABSENT
            return inside[kinds[0]](value) if kinds[0] in inside else value

        return fit

    def _object(self, schema: Schema) -> Fit:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        fits = {name: self.of(child) for name, child in properties.items()}
        computed = self._computed.get(schema.get("title", ""), {})
        required = {name: properties[name] for name in schema.get("required", ()) if name in properties}
        others = schema.get("additionalProperties")
        of_others = self.of(dict(others)) if isinstance(others, Mapping) else None
        named = schema.get("propertyNames", {}).get("pattern")
        of_names = patterned(named) if named else None

        only = properties.get("type", {}).get("const")

        def fit(value: Mapping[str, Any]) -> Any:
            if only is not None and value.get("type", only) != only:
                return ABSENT  # an object of another type
            fitted_object = {}
            for name, child in value.items():
                member = fits.get(name, of_others)
                if member is not None and (fitted := member(child)) is not ABSENT:
                    fitted_object[of_names(name) if of_names else name] = fitted
            for name, compute in computed.items():
                if name in properties and name not in fitted_object:
                    fitted_object[name] = fits[name](compute(value))
            for name, child in required.items():
                if name not in fitted_object:
                    fitted_object[name] = self.empty(child)
            return fitted_object

        return fit

    def _array(self, schema: Schema) -> Fit:
        element, fewest, most = self.of(schema["items"]), schema.get("minItems", 0), schema.get("maxItems")

        def fit(value: list[Any]) -> Any:
            elements = [element(child) for child in value]
            # A list with one element per token keeps its length.
            elements = [
                self.empty(schema["items"]) if child is None and fitted is ABSENT else fitted
                for child, fitted in zip(value, elements, strict=True)
            ]
            elements = [child for child in elements if child is not ABSENT]
            return ABSENT if len(elements) < fewest else elements[:most]

        return fit

    def _all(self, parts: list[Fit]) -> Fit:
        def fit(value: Any) -> Any:
            for part in parts:
                if value is not ABSENT:
                    value = part(value)
            return value

        return fit

    def _union(self, branches: tuple[Schema, ...]) -> Fit:
        candidates = [_Branch(resolved(self._document, branch), self.of(branch), self._document) for branch in branches]

        def fit(value: Any) -> Any:
            likenesses = ((branch, branch.likeness(value)) for branch in candidates)
            alike = [(branch, likeness) for branch, likeness in likenesses if likeness is not None]
            for branch, _ in sorted(alike, key=lambda pair: pair[1], reverse=True):
                fitted = branch.fit(value)
                if fitted is not ABSENT and (not isinstance(value, list) or len(fitted) == len(value)):
                    return fitted
            return None if any(branch.is_null for branch in candidates) else ABSENT

        return fit


class _Branch:
    """One of the schemas of a union."""

    def __init__(self, schema: Schema, fit: Fit, document: Schema) -> None:
        self.fit = fit
        self._types = type_names(schema)
        self.is_null = self._types == ["null"]
        self._names = frozenset(schema.get("properties", ()))
        self._only = resolved(document, schema.get("properties", {}).get("type", {})).get("const")

    def likeness(self, value: Any) -> int | None:
        """Returns how many fields of an object the branch has; None for a value that doesn't match it."""
        if self._types and not set(TYPES[type(value)]) & set(self._types):
            return None
        if not isinstance(value, Mapping) or not self._names:
            return 0
        if self._only is not None and value.get("type", self._only) != self._only:
            return None  # an object of another type
        return len(self._names & value.keys())


def _parsed(text: str) -> Any:
    """Parses a JSON object from a string; returns ABSENT for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return ABSENT
    return value if isinstance(value, dict) else ABSENT


CHARACTERS = re.compile(r"\^(\[[^\]]+\])\*\$")


def patterned(pattern: str) -> Callable[[str], str]:
    """Returns a function that makes a string match a pattern, if possible. The same ID always becomes the same one."""
    matches = re.compile(pattern).search
    if characters := CHARACTERS.fullmatch(pattern):
        only = re.compile(characters[1]).findall
        return lambda text: "".join(only(text))
    beginning = re.match(r"\^([\w-]+)", pattern)
    length = re.search(r"\{(\d+)\}", pattern)
    digits = re.search(r"\[0-9\]\{1,(\d+)\}", pattern)

    def candidates(text: str) -> Iterator[str]:
        yield text
        own = re.split("[-_]", text)[-1]
        kind = text.removesuffix(own)
        if beginning:
            yield beginning[1] + own
        if re.fullmatch("[0-9a-f]+", own):  # as in our IDs
            number = int(own, 16) % 10 ** int(digits[1]) if digits else int(own, 16)
            yield f"{kind}{number}"
            yield f"{kind.replace('_', '-')}{number}"
        if length:
            yield own[: int(length[1])]
        yield ""

    return lambda text: next(filter(matches, candidates(text)), text)
