"""Validation by jsonschema-rs, including formats."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind

from specvino.document.operations import Schema

BASE = "urn:document"

LONGEST = 160
"""Characters of a value that are shown."""


class Validator:
    """A compiled JSON Schema (draft 2020-12).

    References lead into the schema itself or, as `urn:document#…`, into the registry. With `formats`, a string that
    doesn't match its `format` is invalid.
    """

    def __init__(
        self, schema: Mapping[str, Any], registry: jsonschema_rs.Registry | None = None, formats: bool = True
    ) -> None:
        self._formats = formats
        self._compile = partial(
            jsonschema_rs.Draft202012Validator, dict(schema), registry=registry, validate_formats=formats
        )
        self._compiled = self._compile()
        self.is_valid: Callable[[Any], bool] = self._compiled.is_valid
        """Returns whether a value is valid. Raises ValueError for one that is nested more than 255 levels deep."""

    def fits(self, value: Any) -> bool:
        """Returns whether a value is valid; a value that is nested too deeply isn't."""
        try:
            return self.is_valid(value)
        except ValueError:
            return False

    def errors(self, value: Any) -> Iterator[jsonschema_rs.ValidationError]:
        """Yields the errors of a value, in jsonschema-rs's form. Raises ValueError as `is_valid` does."""
        return self._compiled.iter_errors(value)

    def violations(self, value: Any) -> Iterator[str]:
        """Yields the errors of a value as sentences that begin with the path of the invalid part."""
        try:
            errors = list(self._explaining.iter_errors(value))
        except ValueError as nested:
            yield str(nested)
            return
        leaves = [leaf for error in errors for leaf in _nearest(error)]
        missing: dict[tuple[str | int, ...], list[str]] = {}
        for leaf in leaves:
            if not isinstance(leaf, _Unknown) and isinstance(leaf.kind, ValidationErrorKind.Required):
                name = json.dumps(leaf.kind.property, ensure_ascii=False)
                missing.setdefault(tuple(leaf.instance_path), []).append(name)
        for leaf in leaves:
            if isinstance(leaf, _Unknown) or leaf.kind.name != "required":
                yield _sentence(leaf)
            elif names := missing.pop(tuple(leaf.instance_path), None):
                yield f"{_location(leaf)}: {_required([*dict.fromkeys(names)])}"

    @cached_property
    def _explaining(self) -> jsonschema_rs.Draft202012Validator:
        """The same schema, with one error of `propertyNames` for an object."""
        try:
            return self._compile(keywords={"propertyNames": _first_key(self._formats)})
        except jsonschema_rs.ValidationError:  # a reference within propertyNames, which a keyword of ours can't resolve
            return self._compiled


def _first_key(formats: bool) -> type:
    """Returns `propertyNames` with an error for the first invalid key only. jsonschema-rs 0.60.3 has one for each of
    them, with a copy of the whole object: 3,000 keys take 2 GB and 5 s. To be deleted once
    tests/document/test_validator.py passes without it."""

    class FirstKey:
        def __init__(self, parent: Any, schema: Schema, path: Any) -> None:
            self._validator = jsonschema_rs.Draft202012Validator(schema, validate_formats=formats)

        def validate(self, instance: Any) -> None:
            for key in instance if isinstance(instance, dict) else ():
                for error in self._validator.iter_errors(key):
                    raise ValueError(error.message)

    return FirstKey


class Validators:
    """The validators of one document, each compiled on first use.

    The document is read once into a registry. Compiling it with each schema would cost 15 ms per megabyte each time.
    """

    def __init__(self, document: Schema, formats: bool = True) -> None:
        self.document = document
        self._formats = formats
        self._registry = jsonschema_rs.Registry([(BASE, document)])
        self._compiled: dict[str, Validator] = {}

    def at(self, pointer: str) -> Validator:
        """Returns the validator of the schema that a pointer into the document leads to."""
        if pointer not in self._compiled:
            self._compiled[pointer] = Validator({"$ref": f"{BASE}#{pointer}"}, self._registry, self._formats)
        return self._compiled[pointer]

    def of(self, schema: Schema) -> Validator:
        """Returns the validator of a schema that may refer to the document's components."""
        key = json.dumps(schema)
        if key not in self._compiled:
            self._compiled[key] = Validator(_absolute(schema), self._registry, self._formats)
        return self._compiled[key]


def _absolute(node: Any) -> Any:
    """Returns a schema whose references lead into the registry."""
    if isinstance(node, list):
        return [_absolute(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        key: BASE + value if key == "$ref" and isinstance(value, str) else _absolute(value)
        for key, value in node.items()
    }


@dataclass(frozen=True, slots=True)
class _Unknown:
    """A value, such as `type`, that each branch of a union has another constant for."""

    instance_path: Sequence[str | int]
    instance: Any
    constants: Sequence[Any]

    @property
    def message(self) -> str:
        (error,) = jsonschema_rs.Draft202012Validator({"enum": self.constants}).iter_errors(self.instance)
        return error.message


Fault = jsonschema_rs.ValidationError | _Unknown


def _sentence(error: Fault) -> str:
    instance = json.dumps(error.instance, ensure_ascii=False, default=repr)
    return f"{_location(error)}: {_cut(error.message.replace(instance, _cut(instance)), 2 * LONGEST)}"


def _location(error: Fault) -> str:
    return ".".join(map(str, error.instance_path)) or "it"


def _required(names: list[str]) -> str:
    """Returns that these members, in quotation marks, are missing."""
    if len(names) == 1:
        return f"{names[0]} is a required property"
    return f"{', '.join(names[:-1])} and {names[-1]} are required properties"


def _nearest(error: jsonschema_rs.ValidationError) -> Sequence[Fault]:
    """Returns the errors of the branch of a union that fits best: the one whose first error is deepest. Missing members
    of one object are errors together. If no branch has the value's `type`, that is the error."""
    branches = getattr(error.kind, "context", None)
    if not branches:
        return [error]
    candidates = [branch for branch in branches if branch]
    if len(candidates) < len(branches):  # a branch fits: the error is that another one fits as well
        return [error]
    depth = len(error.instance_path)
    # The branch whose constants, such as `type`, the value has is the intended one.
    named = [branch for branch in candidates if not any(_tells_apart(problem, depth) for problem in branch)]
    if len(named) == 1:
        return _first(named[0])
    if not named and (unknown := _unknown(candidates, depth)):
        return [unknown]
    # A branch for another type of value carries no information about this one.
    meant = [branch for branch in candidates if min(len(problem.instance_path) for problem in branch) > depth]
    if not meant:
        return _first(candidates[0]) if len(candidates) == 1 else [error]
    best = min(meant, key=lambda branch: (len(branch), -max(len(problem.instance_path) for problem in branch)))
    return _first(best)


def _unknown(branches: list[list[jsonschema_rs.ValidationError]], depth: int) -> _Unknown | None:
    """Returns the direct member for which all branches for this type of value have other constants, if there is one."""
    of_branches = [
        {problem.instance_path[-1]: problem for problem in branch if _is_other_constant(problem, depth)}
        for branch in branches
        if not any(len(problem.instance_path) == depth and problem.kind.name == "type" for problem in branch)
    ]
    common = (name for name in (of_branches or [{}])[0] if all(name in members for members in of_branches))
    name = next(common, None)
    if name is None:
        return None
    problems = [members[name] for members in of_branches]
    constants = [value for problem in problems for value in _constants(problem.kind)]
    return _Unknown(problems[0].instance_path, problems[0].instance, list(dict.fromkeys(constants)))


def _constants(kind: Any) -> Sequence[Any]:
    return kind.options if isinstance(kind, ValidationErrorKind.Enum) else [kind.expected_value]


def _first(branch: list[jsonschema_rs.ValidationError]) -> Sequence[Fault]:
    """Returns the first error of a branch, with all missing members of the same object."""
    if branch[0].kind.name != "required":
        return _nearest(branch[0])
    return [
        problem
        for problem in branch
        if (problem.kind.name, problem.instance_path) == ("required", branch[0].instance_path)
    ]


def _tells_apart(error: jsonschema_rs.ValidationError, depth: int) -> bool:
    """Returns whether the error is about a value, here or in a direct member, that rules out a branch."""
    return (len(error.instance_path) == depth and error.kind.name == "type") or _is_other_constant(error, depth)


def _is_other_constant(error: jsonschema_rs.ValidationError, depth: int) -> bool:
    """Returns whether the error is that a direct member has another constant."""
    return len(error.instance_path) == depth + 1 and error.kind.name in ("const", "enum")


def _cut(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}…"
