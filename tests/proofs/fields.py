"""The fields of requests, what becomes of them, and how one is taken out of a request."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from specvino.codegen.fields import around
from specvino.codegen.fields import fields as all_fields
from specvino.document.loading import whole
from specvino.document.operations import by_endpoint, operations


@dataclass(frozen=True, slots=True)
class Field:
    """`handling` has more than one handling where the branches of a union differ."""

    name: str
    handling: tuple[str, ...]
    supported_values: tuple[Any, ...]

    @property
    def supported(self) -> bool:
        return "supported" in self.handling


@cache
def fields() -> dict[str, Field]:
    """By name, in the order of the document. What is within a field without effect has none either."""
    by_name: dict[str, Field] = {}
    for field in all_fields(whole()):
        if field.part != "request":
            continue
        outer = next((by_name[f"{field.endpoint}.{path}"] for path in around(field.path)), None)
        handling = tuple(dict.fromkeys(owner["x-handling"] for owner in field.owners))
        if outer and not outer.supported:
            handling = outer.handling
        supported_values = tuple(owner["x-supported-values"] for owner in field.owners if "x-supported-values" in owner)
        by_name[field.name] = Field(field.name, handling, supported_values)
    for operation in operations(whole()):
        for parameter in operation.parameters_in("query"):
            name = f"{operation.endpoint}.query.{parameter['name']}"
            by_name[name] = Field(name, (parameter["x-handling"],), ())
    return by_name


@cache
def addressed(endpoint: str) -> tuple[str, re.Pattern[str]]:
    """The method, and what the path of a request to the endpoint looks like."""
    operation = by_endpoint(whole())[endpoint]
    return operation.method, re.compile("/v1" + re.sub(r"\{\w+\}", "[^/]+", operation.path))


def drop(body: Any, path: str) -> int:
    """Takes a field such as `messages[].name` out of a body, wherever it is. Returns how often it was there."""
    step, _, rest = path.partition(".")
    name = step.removesuffix("[]")
    if not isinstance(body, dict) or name not in body:
        return 0
    if not rest:
        del body[name]
        return 1
    return sum(drop(value, rest) for value in _values(body[name], step))


def _values(value: Any, step: str) -> Iterator[Any]:
    if not step.endswith("[]"):
        yield value
    elif isinstance(value, list):
        yield from value
