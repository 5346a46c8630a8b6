"""Reads simple checks from functions: after `if self.x < 0: raise ...`, x isn't less than 0. A condition is read if it
compares one field with known values; all others are skipped. So the result may be weaker than the system's checks, but
never stricter.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from specvino.upstream.annotations import last
from specvino.upstream.described import Schema
from specvino.upstream.modules import Definition, Module, NotConstant, Sources, constant, statements

_ABOVE: dict[type[ast.cmpop], str] = {
    ast.Lt: "exclusiveMaximum",
    ast.LtE: "maximum",
    ast.Gt: "exclusiveMinimum",
    ast.GtE: "minimum",
}
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
# The negations of comparisons. A text is neither below 0 nor at least 0: Python raises an error.
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_SIZES = {
    "minimum": ("minLength", "minItems", "minProperties", 0),
    "exclusiveMinimum": ("minLength", "minItems", "minProperties", 1),
    "maximum": ("maxLength", "maxItems", "maxProperties", 0),
    "exclusiveMaximum": ("maxLength", "maxItems", "maxProperties", -1),
}
_SIZED = {"type": ["string", "array", "object"]}
_EMPTY: Schema = {
    "anyOf": [{"enum": [None, False, 0, ""]}, {"type": ["array", "object"], "maxItems": 0, "maxProperties": 0}]
}
_TYPES: dict[str, Schema] = {
    "str": {"type": "string"},
    "int": {"type": ["integer", "boolean"]},
    "float": {"type": "number", "not": {"type": "integer"}},
    "bool": {"type": "boolean"},
    "list": {"type": "array"},
    "dict": {"type": "object"},
}


class _NotPlain(Exception):
    """The condition isn't a comparison of one field with known values."""


Condition = dict[str, Schema]
"""The values of the named fields for which a condition holds. Empty: it always holds."""


class Function:
    """The statements of one function. known: returns the value of an expression, or raises NotConstant. called: returns
    the schema of the values that the function with that name accepts as its argument. names: the fields that local
    names refer to.
    """

    def __init__(
        self,
        known: Callable[[ast.expr], Any],
        called: Callable[[str], Schema],
        function: ast.FunctionDef,
        names: dict[str, str],
    ) -> None:
        self._known = known
        self._called = called
        self._values: dict[str, ast.expr] = {}
        # A variable that is assigned may no longer have the value that was sent.
        self._set: set[str | None] = set()
        self._names: dict[str, str] = {}
        targets = [target for node in ast.walk(function) for target in _targets(node)]
        self._set = {self._field(target) for target in targets if not isinstance(target, ast.Name)}
        changed = {target.id for target in targets if isinstance(target, ast.Name)}
        self._names = {name: field for name, field in names.items() if name not in changed}

    def refused(self, body: Sequence[ast.stmt], assumed: Condition) -> Iterator[tuple[str, Schema]]:
        """Yields, by field, values for which statements raise if `assumed` holds; stops where this can't be decided."""
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._names.pop(name, None)
                    self._values[name] = value
                    if field := self._field(value):
                        self._names[name] = field
                case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=operand)) if _is_object(operand):
                    continue  # conditions apply to objects only
                case ast.If(test=test, body=then, orelse=other):
                    opposite = self._plain(test, False)
                    # Each part of an `or` is sufficient.
                    for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]:
                        if (condition := self._plain(part, True)) is not None:
                            yield from self.refused(then, _both(assumed, condition))
                    if opposite is not None:
                        yield from self.refused(other, _both(assumed, opposite))
                    if isinstance(then[-1], ast.Return) and not _returns(*then[:-1], *other):
                        if opposite is None:
                            return
                        assumed = _both(assumed, opposite)
                    elif _returns(statement):
                        return
                case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[first, *_])) if not assumed:
                    if (field := self._field(first)) and (schema := self._called(name)):
                        yield field, {"not": schema}
                case ast.Raise():
                    if len(assumed) == 1:
                        yield from assumed.items()
                    return
                case _ if _returns(statement):
                    return

    def _plain(self, node: ast.expr, holds: bool) -> Condition | None:
        """Returns the values for which a condition holds, or doesn't hold; None if it isn't simple."""
        try:
            return self._condition(node, holds)
        except _NotPlain:
            return None

    def _condition(self, node: ast.expr, holds: bool) -> Condition:
        match node:
            case ast.BoolOp(op=op, values=parts):
                conditions = [self._condition(part, holds) for part in parts]
                return _all(conditions) if isinstance(op, ast.And) == holds else _any(conditions)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._condition(operand, not holds)
            case ast.Compare(left=left, ops=ops, comparators=others):
                conditions = [
                    self._comparison(first, op if holds else _OPPOSITE[type(op)](), second)
                    for first, op, second in zip((left, *others), ops, others, strict=False)
                ]
                return _all(conditions) if holds else _any(conditions)
            case ast.Call() if holds and _is_object(node):
                return {}
            case ast.Call(func=ast.Name(id="isinstance"), args=[subject, types]):
                return self._isinstance(subject, types, holds)
        if field := self._field(node):
            return {field: {"not": _EMPTY} if holds else _EMPTY}
        raise _NotPlain

    def _isinstance(self, subject: ast.expr, types: ast.expr, holds: bool) -> Condition:
        named = [last(name) for name in (types.elts if isinstance(types, ast.Tuple) else [types])]
        field = self._field(subject)
        if field is None or not all(name in _TYPES for name in named):
            raise _NotPlain
        schema: Schema = {"anyOf": [_TYPES[name] for name in named]}
        return {field: schema if holds else {"not": schema}}

    def _comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Condition:
        if self._field(left) is None and self._sized(left) is None and type(op) in (*_TURNED, ast.Eq, ast.NotEq):
            left, op, right = right, _TURNED.get(type(op), type(op))(), left
        try:
            value = self._known(self._values.get(right.id, right) if isinstance(right, ast.Name) else right)
        except NotConstant:
            raise _NotPlain from None
        if sized := self._sized(left):
            return {sized: _size(op, value)}
        if field := self._field(left):
            return {field: _compared(op, value)}
        raise _NotPlain

    def _sized(self, node: ast.expr) -> str | None:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[inner]):
                return self._field(inner)
        return None

    def _field(self, node: ast.expr) -> str | None:
        field = self._field_of(node)
        return None if field in self._set else field

    def _field_of(self, node: ast.expr) -> str | None:
        """Returns the field that an expression reads: `self.x`, `data["x"]`, `data.get("x")` or a name."""
        match node:
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                if field := self._field(value):
                    self._names[name] = field
                return field
            case ast.Name(id=name):
                return self._names.get(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return name
            case ast.Subscript(value=ast.Name(id="data" | "values"), slice=ast.Constant(value=str(name))):
                return name
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="data" | "values"), attr="get"),
                args=[ast.Constant(value=str(name))] | [ast.Constant(value=str(name)), ast.Constant(value=None)],
            ):
                return name
        return None


def read_names(function: ast.FunctionDef) -> list[str]:
    """Returns the names that a validator of a whole request reads in it: `data.get("x")`, `data.pop("x")`, `data["x"]`
    and `"x" in data`, where `data` is the argument after the class."""
    data = function.args.args[1].arg if len(function.args.args) > 1 else ""
    names: dict[str, None] = {}
    for node in ast.walk(function):
        match node:
            case (
                ast.Call(
                    func=ast.Attribute(value=ast.Name(id=owner), attr="get" | "pop"),
                    args=[ast.Constant(value=str(name)), *_],
                )
                | ast.Subscript(value=ast.Name(id=owner), slice=ast.Constant(value=str(name)), ctx=ast.Load())
                | ast.Compare(left=ast.Constant(value=str(name)), comparators=[ast.Name(id=owner)])
            ) if owner == data:
                names[name] = None
    return list(names)


def _is_object(node: ast.expr) -> bool:
    """Returns whether a condition tests if the request is an object at all."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id="data" | "values"), ast.Name(id="dict")]):
            return True
    return False


def _targets(node: ast.AST) -> list[ast.expr]:
    """Returns the names that a statement assigns."""
    match node:
        case ast.Assign(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.For(target=target):
            return [target]
    return []


def _returns(*statements: ast.stmt) -> bool:
    """Returns whether the code after some statements may not be reached, so that its checks only apply to some
    values.
    """
    return any(isinstance(node, ast.Return) for statement in statements for node in ast.walk(statement))


def _both(first: Condition, second: Condition) -> Condition:
    return _all((first, second))


def _all(conditions: Sequence[Condition]) -> Condition:
    """Returns the conjunction of conditions."""
    fields = {field: None for condition in conditions for field in condition}
    return {field: all_of([condition[field] for condition in conditions if field in condition]) for field in fields}


def _any(conditions: Sequence[Condition]) -> Condition:
    """Returns the disjunction of conditions, which must be about one field."""
    if len({field for condition in conditions for field in condition}) != 1 or any(
        len(condition) != 1 for condition in conditions
    ):
        raise _NotPlain
    ((field, _),) = conditions[0].items()
    return {field: {"anyOf": [condition[field] for condition in conditions]}}


def _compared(op: ast.cmpop, value: Any) -> Schema:
    match op:
        case ast.Is() | ast.Eq():
            return {"const": value}
        case ast.IsNot() | ast.NotEq():
            return {"not": {"const": value}}
        case ast.In() if isinstance(value, list):
            return {"enum": value}
        case ast.NotIn() if isinstance(value, list):
            return {"not": {"enum": value}}
    if type(op) in _ABOVE and isinstance(value, (int, float)):
        return {"type": "number", _ABOVE[type(op)]: value}
    raise _NotPlain


def _size(op: ast.cmpop, value: Any) -> Schema:
    if isinstance(op, ast.NotEq):
        return {**_SIZED, "not": _size(ast.Eq(), value)}
    if isinstance(op, ast.Eq) and isinstance(value, int):
        return {"allOf": [_size(ast.GtE(), value), _size(ast.LtE(), value)]}
    if type(op) not in _ABOVE or not isinstance(value, int):
        raise _NotPlain
    *keywords, more = _SIZES[_ABOVE[type(op)]]
    return {**_SIZED, **{str(keyword): max(0, value + int(more)) for keyword in keywords}}


def all_of(schemas: Sequence[Schema]) -> Schema:
    """Returns the schema of the values that fit all of these."""
    return schemas[0] if len(schemas) == 1 else {"allOf": list(schemas)}


class Checks:
    """A reader of the checks of classes and functions."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._inside: list[ast.FunctionDef] = []

    def of_class(self, definition: Definition) -> dict[str, Schema]:
        """Returns the bounds that the validators of a class set for each field."""
        assert isinstance(definition.node, ast.ClassDef)
        bounds: dict[str, list[Schema]] = {}
        for function in statements(definition.node.body):
            if not isinstance(function, ast.FunctionDef):
                continue
            if function.name == "__post_init__":
                _add(bounds, self._refused(definition.module, function))
            for decorator in function.decorator_list:
                match decorator:
                    case ast.Call(func=name, args=fields) if last(name) in ("field_validator", "validator"):
                        schema = self._value(definition.module, function, 1)
                        for field in fields:
                            if schema and isinstance(field, ast.Constant):
                                bounds.setdefault(str(field.value), []).append(schema)
                    case ast.Call(func=name) if last(name) == "model_validator":
                        _add(bounds, self._refused(definition.module, function))
        return {name: all_of(schemas) for name, schemas in bounds.items()}

    def of_method(self, definition: Definition, method: str) -> dict[str, Schema] | None:
        """Returns the bounds that a method of a class sets for each attribute; None if there is no such method."""
        if not isinstance(definition.node, ast.ClassDef):
            return None
        for function in statements(definition.node.body):
            if isinstance(function, ast.FunctionDef) and function.name == method:
                return self._refused(definition.module, function)
        return None

    def of_function(self, definition: Definition) -> Schema:
        """Returns the bounds that a validating function sets for its argument."""
        assert isinstance(definition.node, ast.FunctionDef)
        return self._value(definition.module, definition.node, 0)

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
        definition = self._sources.find(module, name)
        if (
            isinstance(definition, Definition)
            and isinstance(definition.node, ast.FunctionDef)
            and definition.node not in self._inside
        ):
            self._inside.append(definition.node)
            try:
                return self.of_function(definition)
            finally:
                self._inside.pop()
        return {}


def _add(bounds: dict[str, list[Schema]], schemas: dict[str, Schema]) -> None:
    for name, schema in schemas.items():
        bounds.setdefault(name, []).append(schema)
