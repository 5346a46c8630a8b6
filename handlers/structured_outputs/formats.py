"""OpenAI's fields: `response_format` and `text.format`."""

from typing import Any

from pydantic import BaseModel

from specvino.generated import models
from specvino.handlers.structured_outputs.output import StructuredOutput, json_object, json_schema, of_format, of_tag


def of_response_format(format: BaseModel | None, strict: bool) -> StructuredOutput | None:
    """Returns the constraint of a response_format, None for any text."""
    match format:
        case models.ResponseFormatJsonObject():
            return json_object("response_format")
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


def of_text_format(format: BaseModel | None, strict: bool) -> StructuredOutput | None:
    """Returns the constraint of a text.format, None for any text."""
    match format:
        case models.TextResponseFormatJsonObject():
            return json_object("text.format")
        case models.TextResponseFormatJsonSchema():
            plain = _plain(format)
            return json_schema(plain["schema"] or {}, "text.format.schema", strict or bool(plain.get("strict")))
    return None


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True) if isinstance(value, BaseModel) else value
