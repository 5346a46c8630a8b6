"""Converts the classes of a system into JSON Schemas: pydantic models, dataclasses, TypedDicts and enums."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from specvino.upstream.annotations import UNREAD, Annotations, bounded, last
from specvino.upstream.checks import Checks, read_names
from specvino.upstream.described import Places, Schema, Unreadable
from specvino.upstream.modules import Definition, Module, NotConstant, Sources, constant, statements
from specvino.upstream.places import of_node
from specvino.upstream.serializers import EMPTY, NULL, left_out


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declaration of a field. words: the keywords of `Field`, in the annotation or as the value. default: the
    expression of its default; None if it has none, or a factory. marked: `Required` or `NotRequired`, if the annotation
    has one.
    """

    schema: Schema
    words: dict[str, ast.expr]
    default: ast.expr | None
    marked: str | None

    @property
    def has_default(self) -> bool:
        return "default_factory" in self.words or not (self.default is None or is_constant(self.default, ...))

    def states(self, word: str, value: Any) -> bool:
        """Returns whether a keyword of `Field` has this value."""
        return is_constant(self.words.get(word), value)

    def alias(self, *words: str) -> tuple[str, ...] | None:
        """Returns the names under which the field is sent, by the last of these keywords that is set: one, or those of
        `AliasChoices`. None if there is none, and no name if it isn't known."""
        expressions = [self.words[word] for word in words if word in self.words]
        match expressions[-1:]:
            case [] | [ast.Constant(value=None)]:
                return None
            case [ast.Constant(value=str(name))]:
                return (name,)
            case [ast.Call(func=function, args=choices)] if last(function) == "AliasChoices":
                names = [choice.value for choice in choices if isinstance(choice, ast.Constant)]
                return tuple(map(str, names)) if len(names) == len(choices) else ()
        return ()


class Declarations:
    """A reader of declarations."""

    def __init__(self, sources: Sources, annotations: Annotations) -> None:
        self._sources = sources
        self._annotations = annotations

    def read(self, module: Module, annotation: ast.expr, value: ast.expr | None) -> Declaration:
        """Returns the declaration of a field. Its schema has the default if it is known."""
        schema = self._annotations.schema(module, annotation)
        words = dict(_words(annotation))
        default = value
        if isinstance(value, ast.Call) and last(value.func) in ("Field", "FieldInfo", "field"):
            schema = bounded(schema, self._annotations.bounds(module, value))
            words |= {keyword.arg: keyword.value for keyword in value.keywords if keyword.arg}
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
    """Returns whether an annotated name of a class is a field."""
    around = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    return not name.startswith("_") and last(around) not in ("ClassVar", "InitVar")


def is_constant(node: ast.expr | None, value: Any) -> bool:
    """Returns whether an expression is this literal value."""
    return isinstance(node, ast.Constant) and type(node.value) is type(value) and node.value == value


def _layers(annotation: ast.expr) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yields the wrappers of a field's type from the outside in: the name and its arguments."""
    while isinstance(annotation, ast.Subscript):
        name, inner = last(annotation.value), annotation.slice
        if name not in ("Annotated", "NotRequired", "ReadOnly", "Required"):
            return
        arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        yield name, arguments
        annotation = arguments[0]


def _words(annotation: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yields the keywords of `Field` and `PropertyInfo` in the `Annotated` of a field."""
    for _, arguments in _layers(annotation):
        for argument in arguments[1:]:
            if isinstance(argument, ast.Call) and last(argument.func) in ("Field", "FieldInfo", "PropertyInfo"):
                yield from ((word.arg, word.value) for word in argument.keywords if word.arg)


def _marked(annotation: ast.expr) -> str | None:
    """Returns whether a TypedDict marks a key as `Required` or `NotRequired`; None if it doesn't."""
    return next((name for name, _ in _layers(annotation) if name in ("NotRequired", "Required")), None)


_MODELS = ("BaseModel", "RootModel")
_ENUMS = ("Enum", "StrEnum", "IntEnum")
_WITHOUT_FIELDS = ("ABC", "Generic", "Protocol", "object", "str", "int", "float", "Exception")


class Reading(StrEnum):
    """The direction in which classes are read: as requests, or as answers. In answers a field with a default is always
    present, unless the system leaves out fields that it hasn't set.
    """

    TAKEN = "taken"
    WRITTEN = "written"
    WRITTEN_WHERE_SET = "written-where-set"


@dataclass(slots=True)
class _Class:
    """The combined content of a class and its bases."""

    kind: str | None = None
    properties: dict[str, Schema] = field(default_factory=dict)
    needed: set[str] = field(default_factory=set)
    extra: str = "ignore"
    renamed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The names in JSON, by name in the code."""
    unread: str | None = None
    """A base that can't be read, which may have further fields."""
    places: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The file and the lines of fields and methods."""


class Classes:
    """A reader of classes into `schemas`, by full name; references lead to `#/$defs/READING/NAME`."""

    def __init__(self, sources: Sources, reading: Reading = Reading.TAKEN) -> None:
        self._sources = sources
        self._reading = reading
        self._checks = Checks(sources)
        self._annotations = Annotations(sources, self.reference, self._checks.of_function, self._note)
        self._declarations = Declarations(sources, self._annotations)
        self.schemas: dict[str, Schema] = {}
        self.places: dict[str, Places] = {}
        """The source lines of the fields and methods of classes, by reference."""
        self.unread: set[str] = set()

    def named(self, file: str, name: str) -> Schema:
        """Returns the schema of a class, or of a named union. Raises Unreadable if the file has none."""
        module = self._sources.at(file)
        if name not in module.names:
            raise Unreadable(f"{module.path} has no {name}")
        return self._annotations.schema(module, ast.parse(name, mode="eval").body)

    def reference(self, definition: Definition) -> Schema | None:
        """Returns a reference to the schema of a class; None if the kind of class isn't supported."""
        if definition.full_name not in self.schemas:
            self.schemas[definition.full_name] = {}  # a recursive class refers to the class that is being read
            schema = self._schema(definition)
            if schema is None:
                del self.schemas[definition.full_name]
                return None
            self.schemas[definition.full_name] = schema
        return {"$ref": self._pointer(definition)}

    def _pointer(self, definition: Definition) -> str:
        return f"#/$defs/{self._reading}/{definition.full_name}"

    def _schema(self, definition: Definition) -> Schema | None:
        shape = _Class()
        self._collect(definition, shape)
        if shape.kind in _ENUMS:
            return self._enum(definition)
        if shape.kind is None:
            return None
        if "root" in shape.properties and shape.kind == "RootModel":
            return shape.properties["root"]
        places: Places = {}
        named = {name: shape.renamed.get(name, (name,)) for name in (*shape.places, *shape.properties)}
        for name, (file, lines) in shape.places.items():
            if name in shape.properties or name.endswith("()"):
                places.setdefault(file, {}).update(dict.fromkeys(named[name], lines))
        self.places[self._pointer(definition)] = places
        properties = {sent: schema for name, schema in shape.properties.items() for sent in named[name]}
        # Of several names, one is enough.
        required = [named[name][0] for name in shape.properties if name in shape.needed and len(named[name]) == 1]
        closed = {"additionalProperties": False} if shape.extra == "forbid" else {}
        unread = {UNREAD: shape.unread} if shape.unread else {}
        return {"type": "object", "properties": properties, "required": required, **closed, **unread}

    def _collect(self, definition: Definition, shape: _Class) -> None:
        """Adds the content of a class and its bases, in the order of inheritance."""
        node = definition.node
        if isinstance(node, ast.Call):
            self._collect_call(definition.module, node, shape)
        if not isinstance(node, ast.ClassDef):
            return
        for base in reversed(node.bases):
            base = base.value if isinstance(base, ast.Subscript) else base
            outer = self._sources.find(definition.module, ast.unparse(base))
            if isinstance(outer, Definition):
                self._collect(outer, shape)
            elif (name := outer.rpartition(".")[2]) in (*_MODELS, *_ENUMS, "TypedDict", "NamedTuple", "Struct"):
                shape.kind = name
                if name == "RootModel" and isinstance(node.bases[0], ast.Subscript):
                    shape.properties["root"] = self._annotations.schema(definition.module, node.bases[0].slice)
            elif name not in _WITHOUT_FIELDS:
                shape.unread = outer
                self._note(outer)
        if any(last(mark.func if isinstance(mark, ast.Call) else mark) == "dataclass" for mark in node.decorator_list):
            shape.kind = shape.kind or "dataclass"
        total = _is_total(node)
        for statement in statements(node.body):
            match statement:
                case ast.AnnAssign(target=ast.Name(id="model_config"), value=ast.expr() as value):
                    self._config(value, shape)
                case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
                    self._config(value, shape)
                case ast.ClassDef(name="Config"):
                    for inner in statement.body:
                        match inner:
                            case ast.Assign(targets=[ast.Name(id="extra")], value=ast.Constant(value=str(extra))):
                                shape.extra = extra
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation) if is_field(name, annotation):
                    self._add(
                        name, self._declarations.read(definition.module, annotation, statement.value), shape, total
                    )
                    shape.places[name] = definition.module.file, of_node(definition.module, statement)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    shape.places[f"{name}()"] = definition.module.file, of_node(definition.module, statement)
        self._add_methods(definition, node, shape)
        for name, bounds in self._checks.of_class(definition).items():
            if name in shape.properties:
                shape.properties[name] = bounded(shape.properties[name], bounds)

    def _add_methods(self, definition: Definition, node: ast.ClassDef, shape: _Class) -> None:
        """Adds what validators read in a request before its class, and what serializers write in another form than that
        of a field's type, without restrictions."""
        for function in statements(node.body):
            if not isinstance(function, ast.FunctionDef):
                continue
            unread = {UNREAD: f"{definition.full_name}.{function.name}"}
            for mark in function.decorator_list:
                if not isinstance(mark, ast.Call):
                    continue
                kind, fields = last(mark.func), [name.value for name in mark.args if isinstance(name, ast.Constant)]
                if (kind, self._reading) == ("model_validator", Reading.TAKEN) and _is_before(mark):
                    sent = {alias for name in shape.properties for alias in shape.renamed.get(name, (name,))}
                    for name in read_names(function):
                        if name not in sent:
                            shape.properties[name] = unread
                            shape.places[name] = definition.module.file, of_node(definition.module, function)
                elif kind == "model_serializer" and self._reading is not Reading.TAKEN:
                    for name, value in left_out(function, tuple(shape.properties)):
                        if name in shape.properties:
                            shape.properties[name] = _without(shape.properties[name], value)
                            shape.needed.discard(name)
                elif kind == "field_serializer" and self._reading is not Reading.TAKEN:
                    written = [str(name) for name in fields if name in shape.properties]
                    shape.properties |= dict.fromkeys(written, unread)
                    if written:
                        self._note(unread[UNREAD])

    def _collect_call(self, module: Module, node: ast.Call, shape: _Class) -> None:
        """Adds the fields of `TypedDict("Name", {...})`, a form for names that aren't Python identifiers."""
        match node:
            case ast.Call(func=function, args=[_, ast.Dict(keys=keys, values=values)]) if last(function) == "TypedDict":
                shape.kind = "TypedDict"
                for key, annotation in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant):
                        declared = self._declarations.read(module, annotation, None)
                        self._add(str(key.value), declared, shape, _is_total(node))
                        shape.places[str(key.value)] = module.file, of_node(module, annotation)

    def _add(self, name: str, declared: Declaration, shape: _Class, total: bool) -> None:
        """Adds a field, replacing an earlier one of the same name."""
        shape.properties.pop(name, None)
        shape.needed.discard(name)
        written = self._reading is not Reading.TAKEN
        if (written and declared.states("exclude", True)) or declared.states("init", False):
            return
        alias = declared.alias("alias", "serialization_alias" if written else "validation_alias")
        if alias:
            shape.renamed[name] = alias
        elif alias is not None:
            self._note(f"the alias of {name}")
        schema = declared.schema
        if written and is_constant(declared.default, None):  # which pydantic doesn't validate by the annotation
            schema = self._annotations.union([schema, {"type": "null"}])
        shape.properties[name] = schema
        may_lack = declared.has_default
        if shape.kind == "TypedDict":
            may_lack = declared.marked == "NotRequired" or (declared.marked is None and not total)
        elif self._reading is Reading.WRITTEN:
            may_lack = "exclude_if" in declared.words
        if not may_lack:
            shape.needed.add(name)

    def _config(self, value: ast.expr, shape: _Class) -> None:
        match value:
            case ast.Call(keywords=keywords):
                extra = next((keyword.value for keyword in keywords if keyword.arg == "extra"), None)
            case ast.Dict(keys=keys, values=values):
                extra = next((v for k, v in zip(keys, values, strict=True) if is_constant(k, "extra")), None)
            case _:
                extra = None
        if isinstance(extra, ast.Constant):
            shape.extra = str(extra.value)

    def _enum(self, definition: Definition) -> Schema:
        assert isinstance(definition.node, ast.ClassDef)
        values = []
        for statement in statements(definition.node.body):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                    try:
                        values.append(constant(self._sources, definition.module, value))
                    except NotConstant:  # auto(), of texts
                        values.append(name.lower())
        return {"enum": values}

    def _note(self, name: str) -> None:
        self.unread.add(name)


def _without(schema: Schema, value: Schema) -> Schema:
    """Returns a schema without null, or without the empty list."""
    if value == EMPTY:
        return bounded(schema, {"minItems": 1})
    branches = [
        _without(branch, value) if "anyOf" in branch else branch for branch in schema.get("anyOf", ()) if branch != NULL
    ]
    if not branches or {} in branches:
        return bounded(schema, {"not": NULL})
    beside = {key: kept for key, kept in schema.items() if key not in ("anyOf", "default")}
    return {**branches[0], **beside} if len(branches) == 1 else {"anyOf": branches, **beside}


def _is_before(mark: ast.Call) -> bool:
    """Returns whether a validator gets a request as it was sent."""
    return any(word.arg == "mode" and is_constant(word.value, "before") for word in mark.keywords)


def _is_total(node: ast.ClassDef | ast.Call) -> bool:
    """Returns whether a TypedDict's unmarked keys are required."""
    return not any(keyword.arg == "total" and is_constant(keyword.value, False) for keyword in node.keywords)
