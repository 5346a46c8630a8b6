"""The field of a request that constrains its output -> a constraint. Conditions reject a request with two of them."""

import json
from typing import Any

from pydantic import BaseModel

from specvino.document.loading import group
from specvino.generated import models
from specvino.handlers.fields import lookup, value_at, value_of
from specvino.handlers.structured_outputs.constraint_fields import KINDS
from specvino.handlers.structured_outputs.output import (
    StructuredOutput,
    json_object,
    json_schema,
    of_format,
    of_tag,
    unusable,
)


def structured_output(body: BaseModel, *, strict: bool = False) -> StructuredOutput | None:
    """Returns the constraint of an output, None if nothing constrains it.

    With `strict` all schemas are strict, regardless of their own `strict`. Raises ApiError.
    """
    name = next(group("structured_output").matches(lookup(body)), None)
    match name:
        case None:
            return None
        case "response_format":
            return _of_response_format(value_of(body, "response_format"), strict)
        case "text.format":
            return _of_text_format(value_of(body, "text").format, strict)
        case "output_config.format":
            return json_schema(_plain(value_of(body, "output_config").format)["schema"], f"{name}.schema", True)
        case "output_format":
            return json_schema(_plain(value_of(body, name))["schema"], f"{name}.schema", True)
    return KINDS[name](value_at(body, name), name, strict)


def _of_response_format(format: BaseModel, strict: bool) -> StructuredOutput | None:
    match format:
        case models.ResponseFormatJsonObject():
            return _of_json_object(_plain(format).get("schema"), strict)
        case models.ResponseFormatJsonSchema():
            named = _plain(format.json_schema) or {}
            param = "response_format.json_schema"
            if "schema" not in named:
                return json_schema(named, param, strict)
            return json_schema(named["schema"] or {}, f"{param}.schema", strict or bool(named.get("strict")))
        case models.ResponseFormatStructuralTag(type="structural_tag"):
            return of_tag(_plain(format), "response_format", strict=strict)
        case models.ResponseFormatStructuralTag():
            return of_format(_plain(format), "response_format", strict=strict)
    return None


def _of_json_object(schema: Any, strict: bool) -> StructuredOutput:
    param = "response_format.schema"
    match schema:
        case None:
            return json_object("response_format")
        case str(text):
            try:
                return json_schema(json.loads(text), param, strict)
            except (ValueError, RecursionError) as error:
                raise unusable(param, f"it is not valid JSON: {error}") from None
    return json_schema(schema, param, strict)


def _of_text_format(format: BaseModel, strict: bool) -> StructuredOutput | None:
    match format:
        case models.TextResponseFormatJsonObject():
            return json_object("text.format")
        case models.TextResponseFormatJsonSchema():
            plain = _plain(format)
            return json_schema(plain["schema"] or {}, "text.format.schema", strict or bool(plain.get("strict")))
    return None


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True) if isinstance(value, BaseModel) else value
