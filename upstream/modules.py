"""Resolves Python names in source files, through imports, and the values of constants, without running any code."""

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from specvino.upstream.described import Unreadable


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a name: a class, a function, or an expression, in the module whose names it uses."""

    module: "Module"
    node: ast.ClassDef | ast.FunctionDef | ast.expr
    name: str

    @property
    def full_name(self) -> str:
        return f"{self.module.name}.{self.name}"


@dataclass(frozen=True, slots=True)
class Imported:
    """A name imported from another module; `name` is None for the module itself."""

    module: str
    name: str | None


class Module:
    """A source file."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self.name = name
        self.path = path
        self._tree = tree

    @property
    def file(self) -> str:
        """The path from the folder that has the package, such as `vllm/sampling_params.py`."""
        return self.name.replace(".", "/") + ("/__init__.py" if self.path.name == "__init__.py" else ".py")

    @cached_property
    def names(self) -> dict[str, Definition | Imported]:
        """The meaning of each name in the module; the first one of several in branches of an `if` or a `try`."""
        result: dict[str, Definition | Imported] = {}
        for statement, always in _statements(self._tree.body):
            for name, meaning in self._defined(statement):
                if always:
                    result[name] = meaning
                else:
                    result.setdefault(name, meaning)
        return result

    @cached_property
    def stars(self) -> list[str]:
        """The modules that it imports with `*`."""
        return [
            self._absolute(statement)
            for statement, _ in _statements(self._tree.body)
            if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"
        ]

    def _defined(self, statement: ast.stmt) -> Iterator[tuple[str, Definition | Imported]]:
        match statement:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield name, Definition(self, statement, name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, Definition(self, value, name)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, Definition(self, value, name)
            case ast.Import(names=names):
                for alias in names:
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or name, Imported(name, None)
            case ast.ImportFrom(names=names):
                for alias in names:
                    yield alias.asname or alias.name, Imported(self._absolute(statement), alias.name)

    def _absolute(self, statement: ast.ImportFrom) -> str:
        """Returns the full name of the module in a `from` import."""
        package = self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]
        for _ in range(statement.level - 1):
            package = package.rpartition(".")[0]
        return ".".join(filter(None, (package if statement.level else "", statement.module)))


class Sources:
    """The modules of some packages, by the packages' folders. All other modules are outside."""

    def __init__(self, packages: Mapping[str, Path]) -> None:
        self._packages = packages
        self._modules: dict[str, Module | None] = {}

    def at(self, file: str) -> Module:
        """Returns the module in a file such as `vllm/sampling_params.py`. Raises Unreadable."""
        module = self.module(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        if module is None:
            package, _, rest = file.partition("/")
            raise Unreadable(f"{self._packages.get(package, package)} has no {rest}")
        return module

    def module(self, name: str) -> Module | None:
        """Returns a module by its full name; None if the folders don't contain it. Raises Unreadable if it isn't valid
        Python."""
        if name not in self._modules:
            self._modules[name] = self._read(name)
        return self._modules[name]

    def find(self, module: Module, name: str) -> Definition | str:
        """Returns the definition of a name, which may be dotted; its full name if that is outside."""
        return self._find(module, name, frozenset())

    def _find(self, module: Module, name: str, met: frozenset[tuple[str, str]]) -> Definition | str:
        first, _, rest = name.partition(".")
        if (module.name, name) in met:
            return name  # a circular import
        met |= {(module.name, name)}
        meaning = module.names.get(first)
        if isinstance(meaning, Imported):
            return self._imported(meaning, rest, met)
        if meaning is not None and not rest:
            return meaning
        for star in module.stars:
            if (inside := self.module(star)) and isinstance(target := self._find(inside, name, met), Definition):
                return target
        return name

    def _imported(self, meaning: Imported, rest: str, met: frozenset[tuple[str, str]]) -> Definition | str:
        full = ".".join(filter(None, (meaning.module, meaning.name, rest)))
        steps = full.split(".")
        for length in range(len(steps) - 1, 0, -1):  # the longest prefix that is a module
            inside = self.module(".".join(steps[:length]))
            if inside is not None:
                target = self._find(inside, ".".join(steps[length:]), met)
                return target if isinstance(target, Definition) or target != ".".join(steps[length:]) else full
        return full

    def _read(self, name: str) -> Module | None:
        package, *inside = name.split(".")
        if package not in self._packages:
            return None
        stem = self._packages[package].joinpath(*inside)
        for path in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py"):
            if path.is_file() and (inside or path.name == "__init__.py"):
                return Module(name, path, _parsed(path))
        return None


def _parsed(path: Path) -> ast.Module:
    try:
        with warnings.catch_warnings(action="ignore"):  # warnings about escapes in their strings
            return ast.parse(path.read_bytes(), path)
    except (SyntaxError, ValueError) as error:
        raise Unreadable(f"{path} isn't valid for this version of Python: {error}") from None


def _statements(body: Sequence[ast.stmt], always: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Yields the statements that run when a module or a class is created, and whether they always run."""
    for statement in body:
        match statement:
            case ast.If(body=then, orelse=other):
                yield from _statements((*then, *other), False)
            case ast.Try(body=then, handlers=handlers, orelse=other, finalbody=last):
                handled = [statement for handler in handlers for statement in handler.body]
                yield from _statements((*then, *other, *handled, *last), False)
            case _:
                yield statement, always


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements of a class, those inside an `if` or a `try` too."""
    return (statement for statement, _ in _statements(body))


class NotConstant(Exception):
    """The value is known only at run time."""


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
                raise NotConstant  # such a large number isn't a realistic constant
            return _OPERATORS[type(op)](first, second)
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return [constant(sources, module, element) for element in elements]
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
    definition = sources.find(module, ast.unparse(node))
    if isinstance(definition, Definition) and isinstance(definition.node, ast.expr):
        return constant(sources, definition.module, definition.node)
    if isinstance(node, ast.Attribute):
        owner = sources.find(module, ast.unparse(node.value))
        if isinstance(owner, Definition) and isinstance(owner.node, ast.ClassDef):
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
