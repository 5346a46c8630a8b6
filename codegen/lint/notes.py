"""A note about a system's field says nothing that the schema beside it denies."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from specvino.codegen.bounds import ALL_BOUNDS
from specvino.codegen.fields import Field, fields
from specvino.codegen.lint.problem import Problem
from specvino.codegen.merge import own_entry
from specvino.document.operations import Schema
from specvino.document.validator import Validators
from specvino.document.walk import descend

# Tells whether a schema takes a value.
Takes = Callable[[Schema, Any], bool]

NUMBER = r"(-?\d+(?:\.\d+)?)(?!\.?\w|%)"
ERROR = r"(?:an? (?:4|5)\d\d\b|an error|refused)"


def denied(system: str, dialect: dict[str, Any], projected: dict[str, Any]) -> Iterator[Problem]:
    """What a note says of null, of single numbers and of bounds is what the system's document says."""
    validators = Validators(projected)
    for field in fields(projected):
        entry = own_entry(field, dialect) or {}
        for what in _denied(entry.get("note", ""), field, lambda schema, value: validators.of(schema).fits(value)):
            yield Problem("note", f"openapi/dialects/{system}.yaml {field.name}", what)


def _denied(note: str, field: Field, takes: Takes) -> Iterator[str]:
    def taken(value: Any) -> bool:
        return any(takes(owner, value) for owner in field.owners)

    for found in re.finditer(rf"\bnull (?:is|counts|means|keeps|turns)\b(?: {ERROR})?", note):
        refused = re.search(ERROR, found.group())
        if taken(None) == bool(refused):
            yield f"the note says {found.group()!r}, the schema {'takes' if refused else 'refuses'} null"
    for found in re.finditer(rf"\b[Aa]lso {NUMBER}", note):
        if not taken(_number(found.group(1))):
            yield f"the note says {found.group()!r}, which the schema refuses"
    for found in re.finditer(rf"\b(?:[Aa]t most|[Uu]p to) {NUMBER}", note):
        most = _number(found.group(1))
        beyond = [more for just, more in _around(most) if taken(just)]
        if beyond and all(taken(more) for more in beyond):
            yield f"the note says {found.group()!r}, the schema has no such bound"
    if re.search(r"\b(?:not checked|no bounds?|any number|without a bound)\b", note, re.IGNORECASE):
        bounds = {key for owner in field.owners for _, schema in descend(owner, "") for key in schema} & ALL_BOUNDS
        if bounds:
            yield f"the note says that nothing is checked, the schema has {', '.join(sorted(bounds))}"
    if re.search(r"\bmay be (?:left out|empty)\b", note, re.IGNORECASE):
        yield "what may be left out or empty is said by required and schema"


def _number(text: str) -> float:
    return float(text) if "." in text else int(text)


def _around(most: float) -> Iterator[tuple[Any, Any]]:
    """Yields values at a bound and just beyond it, of each type that can have one."""
    yield most, most + 1
    if isinstance(most, int) and 0 <= most <= 10_000:
        for value in ("a", ["a"], [1]):
            yield value * most, value * (most + 1)
        members = {str(index): "a" for index in range(most + 1)}
        yield {name: value for name, value in members.items() if name != "0"}, members
