"""Reading the fields of a request body: which are read at all (those that the document calls supported), and null as
absent.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, TypeVar

from pydantic import MISSING, BaseModel

from specvino.document.conditions import Lookup
from specvino.generated.support import SHAPES

T = TypeVar("T")


def or_none(value: T | None | MISSING) -> T | None:
    """Returns the value of an optional field, None if it is absent or null."""
    return None if value is MISSING else value


def value_of(body: BaseModel, name: str) -> Any:
    """Returns a field that not every endpoint supports; None if it is absent or null, and if the document calls it
    `unsupported` or `accepted` for the endpoint (`x-handling`). A `refused` one is for the conditions that refuse it.
    """
    field = SHAPES[type(body).__name__].fields.get(name)
    return or_none(getattr(body, name)) if field is not None and field.handling in ("supported", "refused") else None


def lookup(body: BaseModel) -> Lookup:
    """Returns the function with which conditions look up values of a body."""
    return partial(value_at, body)


def value_at(body: BaseModel, path: str) -> Any:
    """Returns the value at a dotted path of wire names; None if it is absent or null, or in a field that the document
    doesn't call supported.

    An object of the document is returned as an empty one: the schemas of conditions don't depend on its members.
    """
    first, *names = path.split(".")
    value: Any = value_of(body, first)
    for name in names:
        if isinstance(value, BaseModel):
            attribute = _attributes(type(value)).get(name)
            value = None if attribute is None else or_none(getattr(value, attribute))
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
        if value is None:
            return None
    if isinstance(value, list):
        return [{} if isinstance(element, BaseModel) else element for element in value]
    return {} if isinstance(value, BaseModel) else value


@cache
def _attributes(model: type[BaseModel]) -> dict[str, str]:
    return {field.alias or attribute: attribute for attribute, field in model.model_fields.items()}
