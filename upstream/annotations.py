"""Converts the annotation of a field, as an AST, and pydantic's bounds into a JSON Schema."""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from specvino.upstream.described import Schema
from specvino.upstream.modules import Definition, Module, NotConstant, Sources, constant

# pydantic has one name for the sizes of texts, lists and objects; each keyword only applies to its own type.
_KEYWORDS = {
    "ge": ("minimum",),
    "gt": ("exclusiveMinimum",),
    "le": ("maximum",),
    "lt": ("exclusiveMaximum",),
    "multiple_of": ("multipleOf",),
    "pattern": ("pattern",),
    "regex": ("pattern",),
    "min_length": ("minLength", "minItems", "minProperties"),
    "max_length": ("maxLength", "maxItems", "maxProperties"),
    "min_items": ("minItems",),
    "max_items": ("maxItems",),
}

# annotated_types' markers, whose bound is a positional argument.
MARKERS = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Le": ("le",),
    "Lt": ("lt",),
    "MultipleOf": ("multiple_of",),
    "MinLen": ("min_length",),
    "MaxLen": ("max_length",),
    "Len": ("min_length", "max_length"),
    "Interval": (),
    "StringConstraints": (),
    "Field": (),
}

# pydantic's types that are shorthands for bounded types.
BOUNDED: dict[str, Schema] = {
    "PositiveInt": {"type": "integer", "exclusiveMinimum": 0},
    "NonNegativeInt": {"type": "integer", "minimum": 0},
    "NegativeInt": {"type": "integer", "exclusiveMaximum": 0},
    "NonPositiveInt": {"type": "integer", "maximum": 0},
    "PositiveFloat": {"type": "number", "exclusiveMinimum": 0},
    "NonNegativeFloat": {"type": "number", "minimum": 0},
    "NegativeFloat": {"type": "number", "exclusiveMaximum": 0},
    "NonPositiveFloat": {"type": "number", "maximum": 0},
}

# Functions that return a type, with the type.
MAKERS: dict[str, Schema] = {
    "conint": {"type": "integer"},
    "confloat": {"type": "number"},
    "constr": {"type": "string"},
    "conlist": {"type": "array"},
}


def keywords(bounds: Iterable[tuple[str, Any]]) -> Schema:
    """Returns the keywords of bounds such as `("ge", 0)`; unknown names are ignored."""
    return {keyword: value for word, value in bounds if value is not None for keyword in _KEYWORDS.get(word, ())}


def bounded(schema: Schema, bounds: Schema) -> Schema:
    """Returns a schema with additional bounds."""
    if not bounds:
        return schema
    return {"allOf": [schema, bounds]} if schema.keys() & bounds.keys() else {**schema, **bounds}


# Types that are defined by their name.
_NAMED: dict[str, Schema] = {
    "str": {"type": "string"},
    "bytes": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "None": {"type": "null"},
    "NoneType": {"type": "null"},
    "Any": {},
    "object": {},
    "dict": {"type": "object"},
    "list": {"type": "array"},
    "datetime": {"type": "string"},
    "date": {"type": "string"},
    "UUID": {"type": "string"},
    "Decimal": {"type": ["number", "string"]},
    "AnyUrl": {"type": "string"},
    "HttpUrl": {"type": "string"},
    "StrictStr": {"type": "string"},
    "StrictInt": {"type": "integer"},
    "StrictFloat": {"type": "number"},
    "StrictBool": {"type": "boolean"},
    **BOUNDED,
}

_LISTS = (
    *("list", "List", "Sequence", "Iterable", "Collection", "set", "Set", "frozenset", "FrozenSet", "deque"),
    "SequenceNotStr",  # the openai package's own
)
_OBJECTS = ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict")

# Wrappers of a type that don't change its values.
_AROUND = ("Required", "NotRequired", "ReadOnly", "Final", "SerializeAsAny", "InstanceOf", "ClassVar")

UNREAD = "x-unread"
"""The keyword that marks a schema of an unreadable type."""


class Annotations:
    """A reader of annotations. `reference` returns the schema of a class, `checked` that of a validator function."""

    def __init__(
        self,
        sources: Sources,
        reference: Callable[[Definition], Schema | None],
        checked: Callable[[Definition], Schema],
        unread: Callable[[str], None],
    ) -> None:
        self._sources = sources
        self._reference = reference
        self._checked = checked
        self._unread = unread

    def schema(self, module: Module, node: ast.expr) -> Schema:
        """Returns the schema of the values that an annotation allows."""
        match node:
            case ast.Constant(value=None):
                return {"type": "null"}
            case ast.Constant(value=str(text)):
                return self.schema(module, ast.parse(text, mode="eval").body)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.union([self.schema(module, left), self.schema(module, right)])
            case ast.Subscript(value=value, slice=inner):
                arguments = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                return self._generic(module, value, arguments)
            case ast.Call(func=function) if (name := last(function)) in MAKERS:
                items = {"items": self.schema(module, node.args[0])} if node.args else {}
                return bounded({**MAKERS[name], **items}, self.bounds(module, node))
            case ast.Name() | ast.Attribute():
                return self._name(module, node)
        return self._unknown(ast.unparse(node))

    def union(self, branches: Sequence[Schema]) -> Schema:
        """Returns the schema of values that fit any of these. Unreadable types are dropped if others remain, which the
        keyword of such types tells: an object may then have further fields."""
        flat: list[Schema] = []
        dropped: Schema = {}
        for branch in branches:
            if "anyOf" in branch and branch.keys() <= {"anyOf", UNREAD}:
                flat += branch["anyOf"]
                dropped |= {key: value for key, value in branch.items() if key == UNREAD}
            else:
                flat.append(branch)
        read = [option for option in flat if UNREAD not in option]
        if not all(option == {"type": "null"} for option in read):
            for option in flat:
                dropped |= {key: value for key, value in option.items() if key == UNREAD}
            flat = read
        flat = [option for index, option in enumerate(flat) if option not in flat[:index]]
        return flat[0] if len(flat) == 1 and not dropped else {"anyOf": flat, **dropped}

    def bounds(self, module: Module, call: ast.Call) -> Schema:
        """Returns the bounds passed to `Field`, to a marker such as `Ge`, or to `constr` and the like."""
        words = [*zip(MARKERS.get(last(call.func), ()), call.args, strict=False)]
        words += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        pairs = []
        for word, value in words:
            try:
                pairs.append((word, constant(self._sources, module, value)))
            except NotConstant:
                continue
        return keywords(pairs)

    def _generic(self, module: Module, origin: ast.expr, arguments: Sequence[ast.expr]) -> Schema:
        name = last(origin)
        if name == "Optional":
            return self.union([self.schema(module, arguments[0]), {"type": "null"}])
        if name == "Union":
            return self.union([self.schema(module, argument) for argument in arguments])
        if name == "Literal":
            return self._literal(module, arguments)
        if name == "Annotated":
            return self._annotated(module, arguments)
        if name in _AROUND:
            return self.schema(module, arguments[0])
        if name in _LISTS:
            return {"type": "array", "items": self.schema(module, arguments[0])}
        if name in ("tuple", "Tuple"):
            return self._tuple(module, arguments)
        if name in _OBJECTS:
            return {"type": "object", "additionalProperties": self.schema(module, arguments[-1])}
        if name in ("type", "Type", "Callable"):
            return self._unknown(ast.unparse(origin))
        return self.schema(module, origin)  # a generic class of the system: its parameters are unrestricted

    def _literal(self, module: Module, arguments: Sequence[ast.expr]) -> Schema:
        values: list[Any] = []
        for argument in arguments:
            try:
                values.append(constant(self._sources, module, argument))
            except NotConstant:  # a nested Literal, by name
                values += self.schema(module, argument).get("enum", ())
        return {"enum": values}

    def _annotated(self, module: Module, arguments: Sequence[ast.expr]) -> Schema:
        schema = self.schema(module, arguments[0])
        for marker in arguments[1:]:
            if not isinstance(marker, ast.Call):
                continue
            taken = next(
                (keyword.value for keyword in marker.keywords if keyword.arg == "json_schema_input_type"), None
            )
            if taken is not None:  # the values that a validator accepts instead of the type
                schema = self.schema(module, taken)
            elif last(marker.func) in MARKERS:
                schema = bounded(schema, self.bounds(module, marker))
            elif last(marker.func).endswith("Validator") and marker.args:
                function = self._sources.find(module, ast.unparse(marker.args[0]))
                if isinstance(function, Definition) and isinstance(function.node, ast.FunctionDef):
                    schema = bounded(schema, self._checked(function))
        return schema

    def _tuple(self, module: Module, arguments: Sequence[ast.expr]) -> Schema:
        if len(arguments) == 2 and isinstance(arguments[1], ast.Constant) and arguments[1].value is Ellipsis:
            return {"type": "array", "items": self.schema(module, arguments[0])}
        of = [self.schema(module, argument) for argument in arguments]
        return {"type": "array", "prefixItems": of, "minItems": len(of), "maxItems": len(of)}

    def _name(self, module: Module, node: ast.Name | ast.Attribute) -> Schema:
        if last(node) == "SequenceNotStr":
            return {"type": "array"}
        definition = self._sources.find(module, ast.unparse(node))
        if isinstance(definition, Definition):
            if isinstance(definition.node, ast.expr):
                return self._alias(definition)
            schema = self._reference(definition)
            return self._unknown(definition.full_name) if schema is None else schema
        name = definition.rpartition(".")[2]
        if name in _NAMED:
            return _NAMED[name]
        if name in _LISTS or name in ("tuple", "Tuple"):
            return {"type": "array"}
        if name in _OBJECTS:
            return {"type": "object"}
        return self._unknown(definition)

    def _alias(self, definition: Definition) -> Schema:
        """Returns the schema of an alias."""
        match definition.node:
            case ast.Call(func=function) if last(function) == "TypedDict":
                return self._reference(definition) or self._unknown(definition.full_name)
            case ast.Call(func=function) if last(function) == "TypeVar":
                bound = next((keyword.value for keyword in definition.node.keywords if keyword.arg == "bound"), None)
                return {} if bound is None else self.schema(definition.module, bound)
            case ast.Call(func=function, args=[_, value]) if last(function) in ("NewType", "TypeAliasType"):
                return self.schema(definition.module, value)
            case ast.expr():
                return self.schema(definition.module, definition.node)
        raise AssertionError(definition)

    def _unknown(self, name: str) -> Schema:
        self._unread(name)
        return {UNREAD: name}


def last(node: ast.expr) -> str:
    """Returns the last part of a dotted name; empty if the expression isn't a name."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""
