"""Reads plain checks out of functions: `if self.x < 0: raise ...` says that x is not less than 0.

A condition is read where it is about one field alone and compares it with what is known; every other is passed over, so
that what is read may be less than what the system checks, and is never more.
"""

import ast

from specvino.upstream.annotations import last
from specvino.upstream.conditions import Function, all_of
from specvino.upstream.constants import constant
from specvino.upstream.described import Schema
from specvino.upstream.modules import Found, Module, Sources, statements


class Checks:
    """Reads the checks of classes and functions."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._inside: list[ast.FunctionDef] = []

    def of_class(self, found: Found) -> dict[str, Schema]:
        """Returns what the validators of a class say of each of its fields."""
        assert isinstance(found.node, ast.ClassDef)
        bounds: dict[str, list[Schema]] = {}
        for function in statements(found.node.body):
            if not isinstance(function, ast.FunctionDef):
                continue
            if function.name == "__post_init__":
                _add(bounds, self._refused(found.module, function))
            for decorator in function.decorator_list:
                match decorator:
                    case ast.Call(func=name, args=fields) if last(name) in ("field_validator", "validator"):
                        schema = self._value(found.module, function, 1)
                        for field in fields:
                            if schema and isinstance(field, ast.Constant):
                                bounds.setdefault(str(field.value), []).append(schema)
                    case ast.Call(func=name) if last(name) == "model_validator":
                        _add(bounds, self._refused(found.module, function))
        return {name: all_of(schemas) for name, schemas in bounds.items()}

    def of_method(self, found: Found, method: str) -> dict[str, Schema] | None:
        """Returns what a method of a class says of each of its attributes; None where the class hasn't the method."""
        if not isinstance(found.node, ast.ClassDef):
            return None
        for function in statements(found.node.body):
            if isinstance(function, ast.FunctionDef) and function.name == method:
                return self._refused(found.module, function)
        return None

    def of_function(self, found: Found) -> Schema:
        """Returns what a function that validates its argument says of it."""
        assert isinstance(found.node, ast.FunctionDef)
        return self._value(found.module, found.node, 0)

    def _value(self, module: Module, function: ast.FunctionDef, position: int) -> Schema:
        arguments = function.args.args
        if len(arguments) <= position:
            return {}
        name = arguments[position].arg
        return self._refused(module, function, {name: "value"}).get("value", {})

    def _refused(
        self, module: Module, function: ast.FunctionDef, names: dict[str, str] | None = None
    ) -> dict[str, Schema]:
        reader = Function(
            lambda node: constant(self._sources, module, node),
            lambda name: self._of_called(module, name),
            function,
            names or {},
        )
        refused: dict[str, list[Schema]] = {}
        for field, schema in reader.refused(function.body, {}):
            refused.setdefault(field, []).append({"not": schema})
        return {field: all_of(schemas) for field, schemas in refused.items()}

    def _of_called(self, module: Module, name: str) -> Schema:
        found = self._sources.find(module, name)
        if isinstance(found, Found) and isinstance(found.node, ast.FunctionDef) and found.node not in self._inside:
            self._inside.append(found.node)
            try:
                return self.of_function(found)
            finally:
                self._inside.pop()
        return {}


def _add(bounds: dict[str, list[Schema]], found: dict[str, Schema]) -> None:
    for name, schema in found.items():
        bounds.setdefault(name, []).append(schema)
