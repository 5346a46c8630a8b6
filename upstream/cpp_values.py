"""The values of a request as functions in C++ with rapidjson check them, and their JSON Schema."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from specvino.upstream.described import Schema

# rapidjson's tests of a type. A double has a point or an exponent, which JSON Schema doesn't tell from an integer.
_TYPES = {"String": "string", "Bool": "boolean", "Object": "object", "Array": "array", "Null": "null"}
_RANGES = {
    "Int": (-(2**31), 2**31 - 1),
    "Uint": (0, 2**32 - 1),
    "Int64": (-(2**63), 2**63 - 1),
    "Uint64": (0, 2**64 - 1),
}


@dataclass(eq=False, slots=True)
class Value:
    """A value of a request. types: the tests of its type outside of which it is an error; empty if any type is read.
    answered: types of which a function has read all once it has tested them.
    kinds: objects with further members, if the member `key` has a value, or isn't there (None). is_strict: null is an
    error, even if a later function allows it. is_tested: values of other types than some are an error or ignored.
    is_closed: objects of other kinds than these are none. around: the value that it is inside, or a kind of.
    """

    parent: "Value | None" = None
    name: str = ""
    types: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    bounds: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    required: set[str] = field(default_factory=set)
    members: dict[str, "Value"] = field(default_factory=dict)
    items: "Value | None" = None
    kinds: dict[tuple[str, str | None], "Value"] = field(default_factory=dict)
    is_nullable: bool = False
    is_strict: bool = False
    is_tested: bool = False
    is_closed: bool = False
    is_refused: bool = False
    around: "Value | None" = None

    def member(self, name: str) -> "Value":
        """Returns the object's member of this name, which is added if it is new."""
        if name not in self.members:
            self.members[name] = Value(self, name, around=self)
        return self.members[name]

    def element(self) -> "Value":
        """Returns the value that stands for all elements of the list."""
        if self.items is None:
            self.items = Value(around=self)
        return self.items

    def kind(self, key: str, value: str | None) -> "Value":
        """Returns the object as it is if its member `key` has this value, or isn't there (None)."""
        return self.kinds.setdefault((key, value), Value(self.parent, self.name, around=self))

    def is_inside(self, others: "Collection[Value]") -> bool:
        """Returns whether it is one of these values, or inside one."""
        return self in others or (self.around is not None and self.around.is_inside(others))

    def schema(self) -> Schema:
        """Returns the schema of the values that aren't an error."""
        if self.is_refused:
            return {"not": {}}
        types = self.types | (self.answered if self.types else set())
        types |= {"Null"} if self.is_nullable and not self.is_strict and self.types else set()
        schema: Schema = dict(self.bounds)
        if whole := [_RANGES[name] for name in types if name in _RANGES]:
            low, high = min(low for low, _ in whole), max(high for _, high in whole)
            if "Double" not in types:
                schema["minimum"] = max(low, schema.get("minimum", low))
                schema["maximum"] = min(high, schema.get("maximum", high))
        names = {_TYPES[name] for name in types if name in _TYPES}
        names |= {"number"} if "Double" in types else {"integer"} if whole else set()
        if names:
            schema["type"] = sorted(names) if len(names) > 1 else min(names)
        if "const" in schema and "null" in names:
            schema["enum"] = [schema.pop("const"), None]
        if self.items is not None:
            schema["items"] = self.items.schema()
        schema |= self.of_members()
        if not self.texts:
            return schema
        texts = {"enum": list(dict.fromkeys(self.texts))}
        if names <= {"string", "null"} and names:
            return schema | {"enum": [*texts["enum"], *([None] if "null" in names else [])]}
        others = {**schema, "type": sorted(names - {"string"})} if names else {"not": {"type": "string"}}
        return {"anyOf": [texts, others]}

    def of_members(self) -> Schema:
        """Returns the keywords of an object's members and kinds."""
        schema: Schema = {}
        if self.members:
            schema["properties"] = {name: node.schema() for name, node in self.members.items()}
        if self.required:
            schema["required"] = sorted(self.required)
        differ = any(node.members or node.required for node in self.kinds.values())
        return schema | ({"anyOf": list(self._branches())} if differ else {})

    def _branches(self) -> Iterator[Schema]:
        """Yields the kinds of an object, and the objects of none of them, if they aren't an error."""
        closed = self.is_closed
        for (key, value), node in self.kinds.items():
            inner = node.of_members()
            kind: Schema = {} if value is None else {key: {"const": value}}
            required = sorted({*inner.get("required", ()), *kind})
            yield {**inner, "properties": {**inner.get("properties", {}), **kind}, "required": required}
            closed = closed or bool(self.members[key].texts)
            if value is None:
                yield {"required": [key]}
                closed = True
        if not closed:
            yield {}
