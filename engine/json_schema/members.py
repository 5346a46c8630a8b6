"""The members of an object: what a schema says of them, one by one.

Some tool parsers' models write a call's arguments so. What a schema says of the object as a whole is then lost:
`Members.beyond` names it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from specvino.engine.json_schema.errors import Path
from specvino.engine.json_schema.refs import resolved
from specvino.engine.json_schema.types import AdmittedTypes

# Nobody has checked the schema of a tool that isn't forced, and it may hold itself: so many names and parts are read,
# in paths of so many steps.
_MOST = 1000
_DEEPEST = 8


@dataclass(slots=True)
class Members:
    """Holds the properties by name, which of them are required, and the paths of keywords that say more."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    beyond: dict[Path, None] = field(default_factory=dict)

    def join(self, other: "Members", keyword: str) -> None:
        """Adds what another schema says; `keyword` (allOf, anyOf) joins the schemas of a property that both have."""
        for name, schema in other.properties.items():
            own = self.properties.get(name, schema)
            several = own[keyword] if isinstance(own, dict) and own.keys() == {keyword} else [own]
            self.properties[name] = own if schema in several else {keyword: [*several, schema]}
        self.beyond |= other.beyond


def members(root: Mapping[str, Any]) -> Members:
    """Returns the members of a schema that need not have been validated: what is no schema says nothing."""
    return _Reader(root).read(root, ())


def required_and_optional(root: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the schemas of the required members and of the optional ones, each complete in itself."""
    shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
    found = members(root)
    properties = {
        name: {**property, **shared} if isinstance(property, dict) else property
        for name, property in found.properties.items()
    }
    required = {name: properties.get(name, True) for name in found.required}
    return required, {name: property for name, property in properties.items() if name not in required}


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._types = AdmittedTypes(root)
        self._left = _MOST

    def read(self, schema: Any, path: Path) -> Members:
        self._left -= 1
        if len(path) > _DEEPEST:
            return Members(beyond={path: None})
        schema = resolved(schema, self._root)
        found = Members(_object(schema.get("properties")), dict.fromkeys(_names(schema.get("required"))))
        self._left -= len(found.properties) + len(found.required)
        for one in self._parts(schema, path, "allOf", found):
            found.join(one, "allOf")
            found.required |= one.required
        for keyword in ("anyOf", "oneOf"):
            branches = list(self._parts(schema, path, keyword, found))
            if len(branches) > 1:
                found.beyond[(*path, keyword)] = None
            union = Members()
            for branch in branches:
                union.join(branch, "anyOf")
            found.join(union, "allOf")
            anyhow = branches[0].required if branches else {}
            found.required |= {name: None for name in anyhow if all(name in branch.required for branch in branches)}
        found.beyond |= {(*path, keyword): None for keyword in _beyond(schema, found)}
        return found

    def _parts(self, schema: Mapping[str, Any], path: Path, keyword: str, found: Members) -> Iterator[Members]:
        """Yields the members of those parts that an object can satisfy."""
        for index, part in enumerate(_list(schema.get(keyword))):
            if self._left <= 0:
                found.beyond[(*path, keyword)] = None
                return
            if "object" in (self._types.of(part) or ("object",)):
                yield self.read(part, (*path, keyword, index))
            else:
                self._left -= 1


def _beyond(schema: Mapping[str, Any], found: Members) -> list[str]:
    """Returns the keywords that more than the members decide, unless these are enough."""
    beyond = [keyword for keyword in ("patternProperties", "propertyNames") if schema.get(keyword) and found.properties]
    if _number(schema.get("minProperties"), 0) > len(found.required):
        beyond.append("minProperties")
    if _number(schema.get("maxProperties"), len(found.properties)) < len(found.properties):
        beyond.append("maxProperties")
    return beyond


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    return [name for name in _list(value) if isinstance(name, str)]


def _number(value: Any, otherwise: int) -> float:
    return value if isinstance(value, int | float) else otherwise
