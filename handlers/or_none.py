"""Optional fields of a request body: null means absent."""

from typing import Any, TypeVar

from pydantic import MISSING, BaseModel

T = TypeVar("T")


def or_none(value: T | None | MISSING) -> T | None:
    """Returns the value of an optional field, None if it is absent or null."""
    return None if value is MISSING else value


def value_of(body: BaseModel, name: str) -> Any:
    """Returns a field that not every endpoint has; an unknown field of that name may hold anything and is not read."""
    return or_none(getattr(body, name)) if name in type(body).model_fields else None
