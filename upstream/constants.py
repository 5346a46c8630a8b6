"""The values of expressions that a reader knows without running them: `2**63 - 1`, `LIMIT`, `Role.USER`."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from specvino.upstream.modules import Found, Module, Sources, statements


class NotConstant(Exception):
    """The value is known only when the system runs."""


_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}

_COLLECTIONS = ("frozenset", "list", "set", "sorted", "tuple")


def constant(sources: Sources, module: Module, node: ast.expr) -> Any:
    """Returns the value of an expression, collections as lists. Raises NotConstant."""
    match node:
        case ast.Constant(value=value) if value is not Ellipsis:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(constant(sources, module, operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            first, second = (_number(constant(sources, module, side)) for side in (left, right))
            if isinstance(op, (ast.Pow, ast.LShift)) and abs(second) > 64:
                raise NotConstant  # a number that nobody means
            return _OPERATORS[type(op)](first, second)
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return [constant(sources, module, each) for each in elements]
        case ast.Dict(keys=keys, values=values) if all(keys):
            names = [constant(sources, module, key) for key in keys if key]
            return dict(zip(names, (constant(sources, module, value) for value in values), strict=True))
        case ast.Call(func=ast.Name(id=name), args=[values]) if name in _COLLECTIONS:
            return constant(sources, module, values)
        case ast.Call(func=ast.Name(id="list" | "dict" as name), args=[], keywords=[]):
            return [] if name == "list" else {}
        case ast.Name() | ast.Attribute():
            return _named(sources, module, node)
    raise NotConstant


def _named(sources: Sources, module: Module, node: ast.Name | ast.Attribute) -> Any:
    found = sources.find(module, ast.unparse(node))
    if isinstance(found, Found) and isinstance(found.node, ast.expr):
        return constant(sources, found.module, found.node)
    if isinstance(node, ast.Attribute):
        owner = sources.find(module, ast.unparse(node.value))
        if isinstance(owner, Found) and isinstance(owner.node, ast.ClassDef):
            for statement in statements(owner.node.body):
                match statement:
                    case (
                        ast.Assign(targets=[ast.Name(id=node.attr)], value=value)
                        | ast.AnnAssign(target=ast.Name(id=node.attr), value=ast.expr() as value)
                    ):
                        return constant(sources, owner.module, value)
    raise NotConstant


def _number(value: Any) -> Any:
    if not isinstance(value, (int, float)):
        raise NotConstant
    return value
