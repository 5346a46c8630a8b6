"""The document's schemas, compiled once: nothing else decides whether a request is valid, and what is wrong with it.

The validator says of a union that no branch fits, after it has tried all of them on all that is inside; for a megabyte
of input items that takes a minute. So `Explainer` goes down into the value itself: through objects and lists to the
part that is wrong, at a union into the branch that was meant, until a single keyword says what is wrong.
"""

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from specvino.document.loading import whole
from specvino.document.operations import Schema, operations
from specvino.document.pointers import at, escape, resolved, schema_reference
from specvino.document.unions import Union, type_names, values
from specvino.document.validator import Validator, Validators
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.validation.refusal import Path, dotted, refuse, refuse_keyword, refuse_missing, types


class Explainer:
    """Explains violations of one schema, in which the document's components may be referred to."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._validators = Validators(schema)

    def explain(self, value: Any) -> ApiError:
        """Returns the error to answer with for a value that is not valid."""
        return self._at("", value, ())[1]

    def _at(self, pointer: str, value: Any, path: Path) -> tuple[Path, ApiError]:
        """Returns where a value at `path` that the schema at `pointer` refuses is wrong, and what is."""
        schema: Schema = at(self._schema, pointer)
        if (target := schema.get("$ref")) and not self._fits(target.removeprefix("#"), value):
            return self._at(target.removeprefix("#"), value, path)
        if error := self._wrong_kind(schema, value, path) or self._own(schema, value, path):
            return path, error
        for below, child, step in _inside(pointer, schema, value):
            if not self._fits(below, child):
                return self._at(below, child, (*path, step))
        for index, part in enumerate(schema.get("allOf", ())):
            below = f"{pointer}/allOf/{index}"
            if not self._fits(below, value):
                if rule := part.get("x-error"):
                    param = (*path, rule["param"])
                    return path, ApiError(ErrorCode.INVALID_VALUE, rule["message"], param=dotted(param))
                return self._at(below, value, path)
        if "if" in schema:
            chosen = "then" if self._fits(f"{pointer}/if", value) else "else"
            if chosen in schema and not self._fits(f"{pointer}/{chosen}", value):
                return self._at(f"{pointer}/{chosen}", value, path)
        for keyword in ("oneOf", "anyOf"):
            if keyword in schema:
                return self._in_union(f"{pointer}/{keyword}", schema[keyword], value, path)
        return path, refuse(ErrorCode.INVALID_VALUE, path, value, "what the document says")

    def _in_union(self, pointer: str, branches: list[Schema], value: Any, path: Path) -> tuple[Path, ApiError]:
        meant = branches
        if isinstance(value, dict):
            union = Union(branches, self._schema)
            meant = union.meant(value)
            if union.key and not meant:
                return path, self._refuse_kind(union.key, union.known, value, path)
        fitting = [
            f"{pointer}/{index}"
            for index, branch in enumerate(branches)
            if any(branch is each for each in meant) and _type_of(value) in self._types(branch)
        ]
        if not fitting:
            accepted = dict.fromkeys(types(self._types(branch)) for branch in branches)
            return path, refuse(ErrorCode.INVALID_TYPE, path, value, " or ".join(accepted))
        if isinstance(value, list):
            fitting = [each for each in fitting if self._begins(each, value)] or fitting
        # Of several lists the one that was right for longer: [[1, "x"]] is a list of token lists, not of strings.
        found = (self._at(each, value, path) for each in fitting)
        return max(found, key=lambda each: [step for step in each[0] if isinstance(step, int)])

    def _begins(self, pointer: str, value: list[Any]) -> bool:
        """Tells whether the first element of a list has a right type: for a fraction an integer was meant."""
        schema = resolved(self._schema, at(self._schema, pointer))
        if not value or "items" not in schema:
            return True
        kind = _type_of(value[0])
        return kind in self._types(schema["items"]) or (kind == "number" and "integer" in self._types(schema["items"]))

    def _refuse_kind(self, key: str, known: list[str], value: dict[str, Any], path: Path) -> ApiError:
        if key not in value:
            return refuse_missing((*path, key), known)
        code = ErrorCode.INVALID_VALUE if isinstance(value[key], str) else ErrorCode.INVALID_TYPE
        return refuse(code, (*path, key), value[key], f"one of {', '.join(known)}")

    def _wrong_kind(self, schema: Schema, value: Any, path: Path) -> ApiError | None:
        """Returns the error of an object whose `type` is another's: such an object lacks other fields as well, but that
        it is another says why."""
        for name, child in schema.get("properties", {}).items() if isinstance(value, dict) else ():
            if "const" in child and name in value and value[name] != child["const"]:
                return self._own(child, value[name], (*path, name))
        return None

    def _own(self, schema: Schema, value: Any, path: Path) -> ApiError | None:
        """Returns what the schema itself says against a value, apart from what is inside."""
        own = {key: each for key, each in schema.items() if key not in LEADING and not key.startswith("x-")}
        error = next(Validator(own).errors(value), None)
        return None if error is None else refuse_keyword(error, own, path)

    def _types(self, schema: Schema) -> list[str]:
        """Returns the JSON types that a schema can accept."""
        schema = resolved(self._schema, schema)
        if "type" in schema:
            names = type_names(schema)
            return ["integer", *names] if "number" in names else list(names)
        branches = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        found = [_type_of(value) for value in values(schema) or ()]
        return list(dict.fromkeys([*found, *(name for each in branches for name in self._types(each))]))

    def _fits(self, pointer: str, value: Any) -> bool:
        return bool(self._validators.at(pointer).is_valid(value))


@cache
def _validators() -> Validators:
    return Validators(whole())


class SchemaCheck:
    """Refuses the values that break one schema, in which the components of a document may be referred to: of ours, or
    of another."""

    def __init__(self, schema: Schema, document: Schema | None = None) -> None:
        self._schema = schema
        self._document = document or whole()
        self._is_valid = (Validators(document) if document else _validators()).of(schema).is_valid

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer({**self._schema, "components": self._document["components"]})

    @classmethod
    def of_component(cls, name: str) -> "SchemaCheck":
        """Returns the check of the component schema of that name."""
        return cls({"$ref": schema_reference(name)})

    @classmethod
    def of_parameters(cls, operation_id: str) -> "SchemaCheck":
        """Returns the check of an operation's parameters, as an object of their values by name."""
        operation = next(each for each in operations(whole()) if each.id == operation_id)
        return cls({"type": "object", "properties": {each["name"]: each["schema"] for each in operation.parameters}})

    def require(self, value: Any) -> None:
        """Raises ApiError for a value that breaks the schema, naming the field, the value and what is accepted."""
        try:
            if not self._is_valid(value):
                raise self._explainer.explain(value)
        except ValueError:  # jsonschema-rs goes 255 levels down
            raise ApiError(ErrorCode.INVALID_JSON, "The request body is not valid: it is nested too deeply.") from None


# The keywords that lead to other schemas; the others speak of the value as a whole.
OBJECTS = ("properties", "patternProperties", "additionalProperties")
LISTS = ("prefixItems", "items")
LEADING = ("$ref", *OBJECTS, *LISTS, "anyOf", "oneOf", "allOf", "if", "then", "else")

TYPES: dict[type, str] = {str: "string", bool: "boolean", list: "array", dict: "object", type(None): "null"}


def _inside(pointer: str, schema: Schema, value: Any) -> Iterator[tuple[str, Any, str | int]]:
    """Yields the parts of a value with the schemas that describe them."""
    if isinstance(value, dict):
        for name, child in value.items():
            if name in schema.get("properties", {}):
                yield f"{pointer}/properties/{escape(name)}", child, name
            elif isinstance(schema.get("additionalProperties"), dict):
                yield f"{pointer}/additionalProperties", child, name
    elif isinstance(value, list):
        first = len(schema.get("prefixItems", ()))
        for index, child in enumerate(value):
            if index < first:
                yield f"{pointer}/prefixItems/{index}", child, index
            elif "items" in schema:
                yield f"{pointer}/items", child, index


def _type_of(value: Any) -> str:
    return TYPES.get(type(value)) or ("integer" if isinstance(value, int) or value.is_integer() else "number")
