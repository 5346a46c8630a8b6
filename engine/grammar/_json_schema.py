"""Reads JSON Schemas: targets of references, parts that apply together, admitted types and members.

Schemas are parsed JSON (dictionaries and booleans).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from specvino.engine.grammar._errors import GrammarError, Path, Unsatisfiable

# The drafts of JSON Schema with the keywords that each added. In a schema of an older one they are annotations.
_ADDED: Mapping[str, tuple[str, ...]] = {
    "draft-04": (),
    "draft-06": ("const", "contains", "propertyNames"),
    "draft-07": ("if", "then", "else"),
    "2019-09": (
        "$recursiveRef",
        "dependentRequired",
        "dependentSchemas",
        "maxContains",
        "minContains",
        "unevaluatedItems",
        "unevaluatedProperties",
    ),
    "2020-12": ("$dynamicRef", "prefixItems"),
}

_META_SCHEMA = re.compile(r"https?://json-schema\.org/(?:draft/)?([\w-]+)/schema")

# A longer chain of references is treated as endless.
_MOST_FOLLOWED = 8


class UnresolvableReference(ValueError):
    """A reference has no target in the schema; `str()` is the reason."""


def target(root: Any, reference: str) -> tuple[Any, Path]:
    """Returns the target of a reference, and its path. Raises UnresolvableReference.

    A reference is a JSON Pointer (RFC 6901) after `#`, percent-encoded as in a URI (RFC 3986), `#` and an `$anchor`, or
    the `$id` of a part of the schema, as it is written there.
    """
    pointer = unquote(reference[1:])
    if not reference.startswith("#"):
        return _named(root, "$id", reference)
    if pointer and not pointer.startswith("/"):
        return _named(root, "$anchor", pointer)
    keys: list[str | int] = []
    value = root
    for part in pointer.split("/")[1:]:
        key: str | int = _unescaped(part)
        if isinstance(value, list) and part.isdecimal() and len(part) < 6:
            key = int(part)
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            raise UnresolvableReference(f"{reference!r} leads to nothing") from None
        keys.append(key)
    if not isinstance(value, Mapping | bool):
        raise UnresolvableReference(f"{reference!r} leads to a value that isn't a schema")
    return value, tuple(keys)


def _named(root: Any, keyword: str, name: str) -> tuple[Any, Path]:
    """Returns the part of a schema with this `$id` or `$anchor`, and its path."""
    left: list[tuple[Any, Path]] = [(root, ())]
    for value, path in left:
        if isinstance(value, Mapping):
            if value.get(keyword) == name:
                return value, path
            left += [(inner, (*path, key)) for key, inner in value.items() if key not in ("const", "enum")]
        elif isinstance(value, list):
            left += [(inner, (*path, index)) for index, inner in enumerate(value)]
    if keyword == "$id":
        raise UnresolvableReference(f"{name!r} leads out of the schema, in which no $id has this value")
    raise UnresolvableReference(f"'#{name}' leads to nothing: no $anchor has this name")


def resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the schema after following references; the schema may be invalid. For a reference that can't be followed,
    and for a value that isn't an object, it returns the empty schema, which admits anything.
    """
    for _ in range(_MOST_FOLLOWED):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        try:
            schema, _path = target(root, reference)
        except UnresolvableReference:
            return {}
    return {}


def reference_to(path: Path) -> str:
    """Returns the reference to a path."""
    return "#" + "".join("/" + quote(_escaped(str(key)), safe="~$") for key in path)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")


@dataclass(frozen=True, slots=True)
class Subschema:
    """A subschema, or a part of its keywords, and its path in the root schema."""

    schema: Any
    path: Path

    def at(self, *keys: str | int) -> "Subschema":
        value = self.schema
        for key in keys:
            value = value[key]
        return Subschema(value, (*self.path, *keys))

    def without(self, *keywords: str) -> "Subschema":
        return Subschema({key: value for key, value in self.schema.items() if key not in keywords}, self.path)


class Conjunction:
    """Subschemas without `$ref` and `allOf`, all of which a value must satisfy."""

    def __init__(self, parts: tuple[Subschema, ...]) -> None:
        self.parts = parts
        self.key = frozenset(map(_part_key, parts))

    def all(self, keyword: str) -> Iterator[Subschema]:
        """Returns the values of a keyword in the parts that have it."""
        return (part.at(keyword) for part in self.parts if keyword in part.schema)

    def values(self, keyword: str) -> list[Any]:
        return [part.schema for part in self.all(keyword)]

    def first(self, keyword: str) -> Subschema | None:
        return next(self.all(keyword), None)


def flatten(root: Mapping[str, Any], parts: tuple[Subschema, ...]) -> Conjunction:
    """Follows references and flattens `allOf`. Raises Unsatisfiable for a false schema, and GrammarError."""
    flat: dict[tuple[Path, tuple[str, ...], str], Subschema] = {}
    for part in parts:
        _flatten(root, part, flat, ())
    return Conjunction(tuple(flat.values()))


def _flatten(root: Mapping[str, Any], part: Subschema, flat: dict[Any, Subschema], followed: tuple[Path, ...]) -> None:
    if part.schema is True:
        return
    if part.schema is False:
        raise Unsatisfiable(part.path, "the schema false allows no value")
    reference = part.schema.get("$ref")
    if reference is not None:
        path = part.at("$ref").path
        try:
            schema, target_path = target(root, reference)
        except UnresolvableReference as error:
            raise GrammarError(path, str(error)) from None
        if target_path in followed:
            raise GrammarError(path, f"{reference!r} leads back to itself")
        _flatten(root, Subschema(schema, target_path), flat, (*followed, target_path))
    for index in range(len(part.schema.get("allOf", ()))):
        _flatten(root, part.at("allOf", index), flat, followed)
    rest = part.without("$ref", "allOf", *_later_keywords(str(root.get("$schema"))))
    if rest.schema:
        flat.setdefault(_part_key(rest), rest)


@lru_cache(maxsize=64)  # a client chooses the value
def _later_keywords(dialect: str) -> tuple[str, ...]:
    """Returns the keywords that drafts after the one of this `$schema` added; none for a draft that isn't known."""
    drafts = list(_ADDED)
    match = _META_SCHEMA.match(dialect)
    own = drafts.index(match[1]) if match and match[1] in drafts else len(drafts)
    return tuple(keyword for draft in drafts[own + 1 :] for keyword in _ADDED[draft])


def _part_key(part: Subschema) -> tuple[Path, tuple[str, ...], str]:
    """Returns what tells a part apart: which keywords are left of it, and the types, which may be fewer."""
    return part.path, tuple(part.schema), str(part.schema.get("type"))


JSON_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
"""The names of the JSON types in `type` of JSON Schema."""

STRING = frozenset(["string"])


def types_of_value(value: Any) -> frozenset[str]:
    """Returns the names of a value's types; a number counts as an integer, too."""
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
    """Returns the types that all of these values of the keyword `type` admit; `number` admits integers."""
    types = set(JSON_TYPES)
    for value in values:
        named = {value} if isinstance(value, str) else set(value)
        types &= named | ({"integer"} if "number" in named else set())
    return types


def admitted_types(schema: Any, root: Mapping[str, Any] | None) -> frozenset[str] | None:
    """Returns the JSON types that a schema admits by `type`, `enum`, `const`, `anyOf` and `oneOf`; None if any.

    References are followed within `root`. The schema may be invalid.
    """
    return AdmittedTypes(root or {}).of(schema)


class AdmittedTypes:
    """The types of several schemas within a root, which may be invalid. Each schema is read once, regardless of the
    number of references.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[int, frozenset[str] | None] = {}

    def of(self, schema: Any) -> frozenset[str] | None:
        """Returns the types that a schema admits, as `admitted_types` does."""
        schema = resolved(schema, self._root)
        if id(schema) not in self._known:
            self._known[id(schema)] = None  # in case the schema contains itself
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


# The schema of a tool that isn't forced hasn't been validated, and may contain itself. So the number of names and
# parts, and the length of paths, are limited.
_MOST = 1000
_DEEPEST = 8


@dataclass(slots=True)
class Members:
    """The members of an object: the schemas of its properties by name, and the names of the required ones. `beyond` has
    the paths of the keywords that the members don't express, such as `minProperties`.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: dict[str, None] = field(default_factory=dict)
    beyond: dict[Path, None] = field(default_factory=dict)

    def join(self, other: "Members", keyword: str) -> None:
        """Adds the properties of another schema. `keyword` (allOf, anyOf) joins the schemas of a property that both
        have."""
        for name, schema in other.properties.items():
            own = self.properties.get(name, schema)
            schemas = own[keyword] if isinstance(own, dict) and own.keys() == {keyword} else [own]
            self.properties[name] = own if schema in schemas else {keyword: [*schemas, schema]}
        self.beyond |= other.beyond


def members(root: Mapping[str, Any]) -> Members:
    """Returns the members of an object that a schema describes, for formats that write arguments one by one.

    The schema may be invalid: parts of it that aren't schemas are ignored.
    """
    return _Reader(root).read(root, ())


def required_and_optional(root: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the schemas of the required and the optional members, with the root's definitions."""
    shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
    own = members(root)
    properties = {
        name: {**property, **shared} if isinstance(property, dict) else property
        for name, property in own.properties.items()
    }
    required = {name: properties.get(name, True) for name in own.required}
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
        own = Members(_object(schema.get("properties")), dict.fromkeys(_names(schema.get("required"))))
        self._left -= len(own.properties) + len(own.required)
        for part in self._parts(schema, path, "allOf", own):
            own.join(part, "allOf")
            own.required |= part.required
        for keyword in ("anyOf", "oneOf"):
            branches = list(self._parts(schema, path, keyword, own))
            if len(branches) > 1:
                own.beyond[(*path, keyword)] = None
            union = Members()
            for branch in branches:
                union.join(branch, "anyOf")
            own.join(union, "allOf")
            candidates = branches[0].required if branches else {}
            own.required |= {name: None for name in candidates if all(name in branch.required for branch in branches)}
        own.beyond |= {(*path, keyword): None for keyword in _beyond(schema, own)}
        return own

    def _parts(self, schema: Mapping[str, Any], path: Path, keyword: str, own: Members) -> Iterator[Members]:
        """Yields the members of the satisfiable parts."""
        for index, part in enumerate(_list(schema.get(keyword))):
            if self._left <= 0:
                own.beyond[(*path, keyword)] = None
                return
            if "object" in (self._types.of(part) or ("object",)):
                yield self.read(part, (*path, keyword, index))
            else:
                self._left -= 1


def _beyond(schema: Mapping[str, Any], own: Members) -> list[str]:
    """Returns the keywords about the whole object that its members don't satisfy already."""
    beyond = [keyword for keyword in ("patternProperties", "propertyNames") if schema.get(keyword) and own.properties]
    if _number(schema.get("minProperties"), 0) > len(own.required):
        beyond.append("minProperties")
    if _number(schema.get("maxProperties"), len(own.properties)) < len(own.properties):
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
