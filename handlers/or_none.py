"""Optional fields of a request body: null means absent."""

from typing import Any, TypeVar

from pydantic import MISSING, BaseModel

from specvino.generated.support import SHAPES

T = TypeVar("T")


def or_none(value: T | None | MISSING) -> T | None:
    """Returns the value of an optional field, None if it is absent or null."""
    return None if value is MISSING else value


def value_of(body: BaseModel, name: str) -> Any:
    """Returns a field that not every endpoint supports; None if it is absent or null, and if the document doesn't call
    it `supported` for the endpoint (`x-handling`)."""
    field = SHAPES[type(body).__name__].fields.get(name)
    return or_none(getattr(body, name)) if field is not None and field.handling == "supported" else None
