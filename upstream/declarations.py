"""Reads the declaration of one field: `name: annotation = Field(...)`."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specvino.upstream.annotations import Annotations, last
from specvino.upstream.constants import NotConstant, constant
from specvino.upstream.constraints import bounded
from specvino.upstream.described import Schema
from specvino.upstream.modules import Module, Sources


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a field is declared as.

    words: what `Field` is given, in the annotation or as the value.
    default: the expression of its default; None where it has none, or a factory.
    marked: `Required` or `NotRequired`, where the annotation says one.
    """

    schema: Schema
    words: dict[str, ast.expr]
    default: ast.expr | None
    marked: str | None

    @property
    def has_default(self) -> bool:
        return "default_factory" in self.words or not (self.default is None or is_constant(self.default, ...))

    def says(self, word: str, value: Any) -> bool:
        """Tells whether `Field` is given a word with a value."""
        return is_constant(self.words.get(word), value)

    def alias(self, *words: str) -> str | None:
        """Returns the name under which the field is sent, by the last of the words that are given."""
        given = [self.words[word] for word in words if word in self.words]
        return str(given[-1].value) if given and isinstance(given[-1], ast.Constant) else None


class Declarations:
    """Reads declarations."""

    def __init__(self, sources: Sources, annotations: Annotations) -> None:
        self._sources = sources
        self._annotations = annotations

    def read(self, module: Module, annotation: ast.expr, value: ast.expr | None) -> Declaration:
        """Returns what a field is declared as. Its schema has the default, where that is known."""
        schema = self._annotations.schema(module, annotation)
        words = dict(_words(annotation))
        default = value
        if isinstance(value, ast.Call) and last(value.func) in ("Field", "FieldInfo", "field"):
            schema = bounded(schema, self._annotations.bounds(module, value))
            words |= {each.arg: each.value for each in value.keywords if each.arg}
            default = value.args[0] if value.args else words.get("default")
        return Declaration(self._with_default(module, schema, default), words, default, _marked(annotation))

    def _with_default(self, module: Module, schema: Schema, default: ast.expr | None) -> Schema:
        if default is None:
            return schema
        try:
            return {**schema, "default": constant(self._sources, module, default)}
        except NotConstant:
            return schema


def is_field(name: str, annotation: ast.expr) -> bool:
    """Tells whether an annotated name of a class is a field."""
    around = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return not name.startswith("_") and last(around) not in ("ClassVar", "InitVar")


def is_constant(node: ast.expr | None, value: Any) -> bool:
    """Tells whether an expression is one value, written out."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def _layers(annotation: ast.expr) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yields what stands around the type of a field, from outside: the name and what it is given."""
    while isinstance(annotation, ast.Subscript):
        name, inner = last(annotation.value), annotation.slice
        if name not in ("Annotated", "NotRequired", "ReadOnly", "Required"):
            return
        given = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        yield name, given
        annotation = given[0]


def _words(annotation: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yields the words given to `Field` and `PropertyInfo` in the `Annotated` of a field."""
    for _, given in _layers(annotation):
        for each in given[1:]:
            if isinstance(each, ast.Call) and last(each.func) in ("Field", "FieldInfo", "PropertyInfo"):
                yield from ((word.arg, word.value) for word in each.keywords if word.arg)


def _marked(annotation: ast.expr) -> str | None:
    """Returns what a TypedDict says of whether a key has to be there; None where it says nothing."""
    return next((name for name, _ in _layers(annotation) if name in ("NotRequired", "Required")), None)
