"""Which JSON types a schema admits."""

from collections.abc import Mapping
from typing import Any

from specvino.engine.json_schema.refs import resolve

STRING = frozenset(["string"])


def types_of(schema: Any, root: Mapping[str, Any] | None) -> frozenset[str] | None:
    """The names of the JSON types that a schema admits, as far as it says so plainly; None: any."""
    return Types(root or {}).of(schema)


class Types:
    """`types_of` for several schemas within a root; each is looked at once, however often it is referred to."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._known: dict[int, frozenset[str] | None] = {}

    def of(self, schema: Any) -> frozenset[str] | None:
        schema = resolve(schema, self._root)
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
            return frozenset(map(type_of, values))
        for keyword in ("anyOf", "oneOf"):
            if isinstance(branches := schema.get(keyword), list):
                admitted = [self.of(branch) for branch in branches]
                return None if None in admitted else frozenset[str]().union(*filter(None, admitted))
        return None


def type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"
