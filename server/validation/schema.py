"""The document's schemas, compiled once, decide whether a request is valid; `Explainer` finds the reason if it isn't.

For a union, the validator reports that no branch matches, after it has tried all branches on the whole value; for a
megabyte of input items this takes a minute. `Explainer` therefore descends into the value itself: through objects and
lists to the invalid part, in a union into the intended branch, until a single keyword explains the error.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from specvino.document.loading import validators, whole
from specvino.document.operations import Schema, operations
from specvino.document.pointers import at, escape, resolved, schema_reference
from specvino.document.unions import Union, type_names, values
from specvino.document.validator import Validator, Validators
from specvino.document.walk import reached
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.validation.refusal import (
    Path,
    dotted,
    refuse,
    refuse_key,
    refuse_keyword,
    refuse_missing,
    refuse_unknown,
    types,
)


class Explainer:
    """Explains violations of the schema that a pointer into a document leads to."""

    def __init__(self, document: Validators, pointer: str = "") -> None:
        self._schema = document.document
        self._validators = document
        self._pointer = pointer

    def explain(self, value: Any) -> ApiError:
        """Returns the error response for an invalid value."""
        return self._at(self._pointer, value, ())[1]

    def _at(self, pointer: str, value: Any, path: Path) -> tuple[Path, ApiError]:
        """Returns the path of the invalid part and its error, for a value at `path` that schema `pointer` rejects."""
        schema: Schema = at(self._schema, pointer)
        if (target := schema.get("$ref")) and not self._fits(target.removeprefix("#"), value):
            return self._at(target.removeprefix("#"), value, path)
        if error := self._wrong_kind(schema, value, path) or self._own(schema, value, path):
            return path, error
        if unknown := _unknown(schema, value):
            return path, refuse_unknown((*path, unknown))
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
        return path, refuse(ErrorCode.INVALID_VALUE, path, value, "valid according to the document")

    def _in_union(self, pointer: str, branches: list[Schema], value: Any, path: Path) -> tuple[Path, ApiError]:
        meant = branches
        if isinstance(value, dict):
            union = Union(branches, self._schema)
            meant = union.meant(value)
            if union.key and not meant:
                return path, self._refuse_kind(union.key, union.known, value, path)
        accepted = [self._types(branch) for branch in branches]
        fitting = [
            f"{pointer}/{index}"
            for index, branch in enumerate(branches)
            # A branch without a type is a condition.
            if any(branch is other for other in meant) and (not accepted[index] or _type_of(value) in accepted[index])
        ]
        if not fitting:
            names = list(dict.fromkeys(name for branch in accepted for name in branch))
            return path, refuse(ErrorCode.INVALID_TYPE, path, value, types(names))
        if isinstance(value, list):
            fitting = [below for below in fitting if self._begins(below, value)] or fitting
        # Of several lists, the one with the longer valid prefix: [[1, "x"]] is a list of token lists, not of strings.
        errors = (self._at(branch, value, path) for branch in fitting)
        return max(errors, key=lambda error: [step for step in error[0] if isinstance(step, int)])

    def _begins(self, pointer: str, value: list[Any]) -> bool:
        """Returns whether the first element of a list has an accepted type; a fraction counts as a mistaken integer."""
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
        """Returns the error for an object with the wrong `type`: it lacks other fields as well, but the type explains
        why."""
        for name, child in schema.get("properties", {}).items() if isinstance(value, dict) else ():
            decides = "const" in child or (name == "type" and "enum" in child)
            if decides and name in value and value[name] not in (values(child) or ()):
                return self._own(child, value[name], (*path, name))
        return None

    def _own(self, schema: Schema, value: Any, path: Path) -> ApiError | None:
        """Returns the error of the schema's own keywords for a value, regardless of nested schemas."""
        own = {key: rule for key, rule in schema.items() if key not in LEADING and not key.startswith("x-")}
        # jsonschema-rs 0.60.3 has an error for each key, with a copy of the object: 3,000 keys take 2 GB and 5 s.
        names = own.pop("propertyNames", None)
        if error := next(Validator(own).errors(value), None):
            return refuse_keyword(error, own, path)
        if names is None or not isinstance(value, dict):
            return None
        validator = Validator(names)
        key = next((key for key in value if not validator.is_valid(key)), None)
        return None if key is None else refuse_key(key, next(validator.errors(key)), names, path)

    def _types(self, schema: Schema) -> list[str]:
        """Returns the JSON types that a schema can accept."""
        schema = resolved(self._schema, schema)
        if "type" in schema:
            names = type_names(schema)
            return ["integer", *names] if "number" in names else list(names)
        branches = (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        names = [_type_of(value) for value in values(schema) or ()]
        return list(dict.fromkeys([*names, *(name for branch in branches for name in self._types(branch))]))

    def _fits(self, pointer: str, value: Any) -> bool:
        return bool(self._validators.at(pointer).is_valid(value))


class SchemaCheck:
    """A check of values against one schema, which may refer to the components of our document or of another one."""

    def __init__(self, schema: Schema, theirs: Validators | None = None) -> None:
        self._document = theirs or validators()
        self._schema = schema
        self.fits: Callable[[Any], bool] = self._document.of(schema).is_valid

    @cached_property
    def _explainer(self) -> Explainer:
        if self._schema.keys() == {"$ref"}:
            return Explainer(self._document, self._schema["$ref"].removeprefix("#"))
        # Only what the schema refers to: a registry of the whole document takes 20 MB.
        names = reached(self._document.document, self._schema)
        components = {name: self._document.document["components"]["schemas"][name] for name in names}
        return Explainer(Validators({**self._schema, "components": {"schemas": components}}))

    @classmethod
    def of_component(cls, name: str) -> "SchemaCheck":
        """Returns the check for the component schema `name`."""
        return cls({"$ref": schema_reference(name)})

    @classmethod
    def of_parameters(cls, operation_id: str) -> "SchemaCheck":
        """Returns the check for an operation's parameters, given as an object of values by name."""
        operation = next(operation for operation in operations(whole()) if operation.id == operation_id)
        properties = {parameter["name"]: parameter["schema"] for parameter in operation.parameters}
        return cls({"type": "object", "properties": properties})

    def error(self, value: Any) -> ApiError:
        """Returns the error for an invalid value."""
        return self._explainer.explain(value)

    def require(self, value: Any) -> None:
        """Raises ApiError for an invalid value, with the field, the value and what is accepted."""
        try:
            if not self.fits(value):
                raise self.error(value)
        except ValueError:  # jsonschema-rs descends 255 levels at most
            raise ApiError(ErrorCode.INVALID_JSON, "The request body is nested too deeply.") from None


# Keywords with nested schemas; the others constrain the value as a whole.
OBJECTS = ("properties", "patternProperties", "additionalProperties")
LISTS = ("prefixItems", "items")
LEADING = ("$ref", *OBJECTS, *LISTS, "anyOf", "oneOf", "allOf", "if", "then", "else")

TYPES: dict[type, str] = {str: "string", bool: "boolean", list: "array", dict: "object", type(None): "null"}


def _unknown(schema: Schema, value: Any) -> str | None:
    """Returns a property that a closed object doesn't have."""
    if schema.get("additionalProperties") is not False or not isinstance(value, dict):
        return None
    return next((name for name in value if name not in schema.get("properties", {})), None)


def _inside(pointer: str, schema: Schema, value: Any) -> Iterator[tuple[str, Any, str | int]]:
    """Yields the parts of a value: the pointer to the schema, the part, and its key or index."""
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
