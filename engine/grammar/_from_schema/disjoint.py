"""Proves that no value satisfies two schemas at once, from their types, constants and properties."""

from collections.abc import Mapping
from typing import Any

from specvino.engine.grammar._errors import Unsatisfiable
from specvino.engine.grammar._json_schema import Conjunction, Subschema, flatten, named_by_all, types_of_value

_DEPTH = 8


def disjoint(root: Mapping[str, Any], a: Subschema, b: Subschema, depth: int = 0) -> bool:
    """Returns whether no value can satisfy both schemas; False means that this is unknown."""
    try:
        first, second = flatten(root, (a,)), flatten(root, (b,))
    except Unsatisfiable:
        return True
    if not _types(first) & _types(second):
        return True
    values, others = _constants(first), _constants(second)
    if values is not None and others is not None:
        return not any(_same(value, other) for value in values for other in others)
    if _types(first) != {"object"} or _types(second) != {"object"} or depth == _DEPTH:
        return False
    if _forbids(first, _required(second)) or _forbids(second, _required(first)):
        return True
    shared = _required(first) & _required(second)
    return any(
        disjoint(root, mine, theirs, depth + 1)
        for name in shared
        for mine in _property(first, name)
        for theirs in _property(second, name)
    )


def _types(schema: Conjunction) -> set[str]:
    types = named_by_all(schema.values("type"))
    if constants := _constants(schema):
        types &= frozenset[str]().union(*map(types_of_value, constants))
    return types


def _constants(schema: Conjunction) -> list[Any] | None:
    if const := schema.first("const"):
        return [const.schema]
    enum = schema.first("enum")
    return list(enum.schema) if enum else None


def _same(a: Any, b: Any) -> bool:
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _required(schema: Conjunction) -> set[str]:
    return {name for names in schema.values("required") for name in names}


def _forbids(schema: Conjunction, names: set[str]) -> bool:
    """Returns whether no object may have all of these names: a part doesn't declare them and allows no others."""
    return any(
        part.schema.get("additionalProperties") is False
        and not part.schema.get("patternProperties")
        and not names <= part.schema.get("properties", {}).keys()
        for part in schema.parts
    )


def _property(schema: Conjunction, name: str) -> list[Subschema]:
    return [properties.at(name) for properties in schema.all("properties") if name in properties.schema]
