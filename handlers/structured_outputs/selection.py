"""Of all fields that say how an answer must look, one counts: two would need a text that fits both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from specvino.handlers.structured_outputs.constraint_fields import of_constraint_field
from specvino.handlers.structured_outputs.formats import of_response_format, of_text_format
from specvino.handlers.structured_outputs.output import StructuredOutput


@dataclass(frozen=True, slots=True)
class FormatFields:
    """The fields of a request that say how its answer must look; only responses have a `text.format`. `constraints` are
    other systems' fields, by their names."""

    response_format: BaseModel | None = None
    text_format: BaseModel | None = None
    constraints: Mapping[str, Any] = field(default_factory=dict)


def structured_output(fields: FormatFields, *, strict: bool = False) -> StructuredOutput | None:
    """Returns the constraint of an answer, None where any text will do.

    `strict` is for all schemas, whatever they say themselves. Raises ApiError.
    """
    found = [of_response_format(fields.response_format, strict), of_text_format(fields.text_format, strict)]
    found += [of_constraint_field(name, value, strict) for name, value in fields.constraints.items()]
    return next((output for output in found if output is not None), None)
