"""One side of a comparison: the structure of its schemas, and the values that they accept."""

from collections.abc import Iterator, Sequence

from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.unions import texts, values
from specvino.document.validator import Validators
from specvino.upstream.annotations import UNREAD
from specvino.upstream.described import Described

_OF_OBJECTS = ("properties", "required", "additionalProperties", "propertyNames")
_OF_ARRAYS = ("items", "prefixItems", "minItems", "maxItems")
_OF_VALUES = ("type", "const", "enum", "not", "pattern", "minLength", "maxLength", "minimum", "maximum")


class Side:
    """A side of a comparison.

    A location may have several schemas, which are the branches of an enclosing union: a value is accepted if one of
    them accepts it.
    """

    def __init__(self, described: Described) -> None:
        self.parts = described.parts
        self._document = described.document
        # A `format` is only an annotation; systems express refusals with other keywords.
        self._validators = Validators(described.document, formats=False)

    def takes(self, schemas: Sequence[Schema], value: object) -> bool:
        return any(self._validators.of(schema).fits(value) for schema in schemas)

    def leaves(self, schemas: Sequence[Schema]) -> list[Schema]:
        """Returns the schemas without references and unions, whose branches become separate schemas."""
        all_leaves = [leaf for schema in schemas for leaf in self._leaves(schema)]
        return [leaf for index, leaf in enumerate(all_leaves) if leaf not in all_leaves[:index]]

    def _leaves(self, schema: Schema) -> Iterator[Schema]:
        schema = self._whole(schema)
        branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
        beside = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
        for branch in branches:
            yield from self._leaves({"allOf": [branch, beside]} if _says(beside, _OF_OBJECTS) else branch)
        if not branches:
            yield schema

    def _whole(self, schema: Schema) -> Schema:
        """Returns a schema, merged with the target of its reference and, for objects, with its `allOf`."""
        if "$ref" in schema:
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            target = self._whole(resolved(self._document, {"$ref": schema["$ref"]}))
            schema = {**target, **beside} if beside.keys() & target.keys() == set() else {**beside, **target}
        parts = schema.get("allOf", ())
        schema = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts:
            if "if" in part or part.keys() <= {"not"}:
                continue  # a rule between values, without a structure
            part = self._whole(part)
            schema = {
                **part,
                **schema,
                "properties": _both(schema.get("properties", {}), part.get("properties", {})),
                "required": [*schema.get("required", ()), *part.get("required", ())],
            }
        return schema

    def applicable(self, schema: Schema) -> Iterator[Schema]:
        """Yields a schema and all others that apply to the same value: branches, references, conditions."""
        yield schema
        if "$ref" in schema:
            yield from self.applicable(resolved(self._document, {"$ref": schema["$ref"]}))
        for keyword in ("anyOf", "oneOf", "allOf"):
            for branch in schema.get(keyword, ()):
                yield from self.applicable(branch)
        for keyword in ("not", "if", "then", "else"):
            if keyword in schema:
                yield from self.applicable(schema[keyword])

    def texts(self, leaf: Schema, key: str) -> list[str] | None:
        """Returns the possible texts of a property; None if it isn't restricted to some."""
        if key not in leaf.get("properties", {}):
            return None
        listed = [values(child) for child in self.leaves([leaf["properties"][key]]) if child.get("type") != "null"]
        return None if None in listed else texts(value for values_of in listed for value in values_of or ())


def _both(first: dict[str, Schema], second: dict[str, Schema]) -> dict[str, Schema]:
    """Returns the merged properties of two objects: a property must match both."""
    different = [name for name in first if name in second and first[name] != second[name]]
    return {**second, **first, **{name: {"allOf": [first[name], second[name]]} for name in different}}


def may_be(leaf: Schema, kind: str) -> bool:
    """Returns whether a leaf allows values of a type, `object` or `array`."""
    if UNREAD in leaf:
        return True
    if "type" in leaf:
        return kind in ([leaf["type"]] if isinstance(leaf["type"], str) else leaf["type"])
    if listed := values(leaf):
        return any(isinstance(value, dict if kind == "object" else list) for value in listed)
    about = {"object": _says(leaf, _OF_OBJECTS), "array": _says(leaf, _OF_ARRAYS)}
    return about[kind] if any(about.values()) else is_open(leaf)


def is_open(leaf: Schema) -> bool:
    """Returns whether a leaf doesn't restrict its values at all."""
    return UNREAD in leaf or not (_says(leaf, (*_OF_OBJECTS, *_OF_ARRAYS)) or leaf.keys() & {*_OF_VALUES})


def _says(leaf: Schema, keywords: Sequence[str]) -> bool:
    """Returns whether keywords restrict anything: neither a schema that allows everything nor an empty list does."""
    return any(keyword in leaf and leaf[keyword] is not True and leaf[keyword] not in ({}, []) for keyword in keywords)
