"""Reads which fields the serializer of a class leaves out of an answer, from the forms that serializers have: a member
is removed if it is null or an empty list, or the answer is rebuilt without null. All other statements are skipped."""

import ast
from collections.abc import Collection, Iterator

from specvino.upstream.described import Schema

NULL: Schema = {"type": "null"}
EMPTY: Schema = {"type": "array", "maxItems": 0}


def left_out(function: ast.FunctionDef, fields: Collection[str]) -> Iterator[tuple[str, Schema]]:
    """Yields the fields that a serializer leaves out, and for which value. fields: those of the class."""
    for statement in function.body:
        match statement:
            case ast.If(orelse=[]):
                yield from _removed(statement, {})
            case ast.For(
                target=ast.Name(id=name), iter=ast.Tuple(elts=items) | ast.List(elts=items), body=[ast.If() as body]
            ):
                for item in items:
                    yield from _removed(body, {name: item})
            case ast.Return(
                value=ast.DictComp(
                    key=ast.Name(id=key),
                    value=ast.Name(id=value),
                    generators=[
                        ast.comprehension(
                            target=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]),
                            ifs=[
                                ast.Compare(
                                    left=ast.Name(id=tested), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]
                                )
                            ],
                        )
                    ],
                )
            ) if key == first and value == second == tested:
                yield from ((field, NULL) for field in fields)


def _removed(statement: ast.If, known: dict[str, ast.expr]) -> Iterator[tuple[str, Schema]]:
    """Yields the member that a condition on itself removes: `if self.x is None: data.pop("x", None)`."""
    match statement.body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="pop"), args=[name, *_]))]:
            field = _text(name, known)
        case _:
            return
    match statement.test:
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            value = NULL
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="len"), args=[left]), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]
        ):
            value = EMPTY
        case _:
            return
    if field and field == _field(left, known):
        yield field, value


def _field(node: ast.expr, known: dict[str, ast.expr]) -> str | None:
    """Returns the field that an expression reads: `self.x` or `data.get("x")`."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="get"), args=[name, *_]):
            return _text(name, known)
    return None


def _text(node: ast.expr, known: dict[str, ast.expr]) -> str | None:
    """Returns a text, or that of a variable with a known value."""
    match known.get(node.id, node) if isinstance(node, ast.Name) else node:
        case ast.Constant(value=str(text)):
            return text
    return None
