"""A call's arguments one by one, for the formats that don't write them as one JSON object.

What a schema says of the object as a whole, they can say only in part: `Members.unsaid` is the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from specvino.engine.formats.tools import Tool, resolve, types_of
from specvino.engine.grammar.errors import Path

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

_DEEPEST = 8

_REASON = "the model's format writes arguments one by one"


@dataclass(slots=True)
class Members:
    """Properties by name, which of them must come, and the keywords that can't be kept to, each with the reason."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    unsaid: dict[Path, str] = field(default_factory=dict)

    def join(self, other: "Members", keyword: str) -> None:
        """`keyword` is allOf or anyOf, for a property that both have."""
        for name, schema in other.properties.items():
            own = self.properties.get(name, schema)
            self.properties[name] = own if own == schema else {keyword: [own, schema]}
        self.unsaid |= other.unsaid

    def require(self, names: list[str]) -> None:
        self.required += [name for name in names if name not in self.required]


def members(root: Mapping[str, Any]) -> Members:
    """Of the schema of a tool's parameters."""
    return _members(root, root, ())


def arguments(tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """The schemas of the arguments that a call must have, and of those that it may have, each complete in itself."""
    root = tool.parameters or NO_ARGUMENTS
    shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
    found = members(root)
    properties = {
        name: {**property, **shared} if isinstance(property, dict) else property
        for name, property in found.properties.items()
    }
    required = {name: properties.get(name, True) for name in found.required}
    return required, {name: property for name, property in properties.items() if name not in required}


def _members(schema: Any, root: Mapping[str, Any], path: Path) -> Members:
    if len(path) > _DEEPEST:
        return Members()
    schema = resolve(schema, root)
    found = Members(dict(schema.get("properties") or {}), list(schema.get("required") or ()))
    for index, part in enumerate(schema.get("allOf") or ()):
        one = _members(part, root, (*path, "allOf", index))
        found.join(one, "allOf")
        found.require(one.required)
    for keyword in ("anyOf", "oneOf"):
        branches = [
            _members(branch, root, (*path, keyword, index))
            for index, branch in enumerate(schema.get(keyword) or ())
            if "object" in (types_of(branch, root) or ("object",))
        ]
        if len(branches) > 1:
            found.unsaid[(*path, keyword)] = _REASON
        union = Members()
        for branch in branches:
            union.join(branch, "anyOf")
        found.join(union, "allOf")
        anyhow = branches[0].required if branches else []
        found.require([name for name in anyhow if all(name in branch.required for branch in branches)])
    found.unsaid |= {(*path, keyword): _REASON for keyword in _beyond(schema, found)}
    return found


def _beyond(schema: Mapping[str, Any], found: Members) -> list[str]:
    """The keywords that more than the members decide, unless these are enough."""
    beyond = [keyword for keyword in ("patternProperties", "propertyNames") if schema.get(keyword) and found.properties]
    if schema.get("minProperties", 0) > len(found.required):
        beyond.append("minProperties")
    if schema.get("maxProperties", len(found.properties)) < len(found.properties):
        beyond.append("maxProperties")
    return beyond
