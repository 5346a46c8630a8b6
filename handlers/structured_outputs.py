"""Structured outputs: `response_format` and `text.format` -> a constraint for the engine."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from specvino.engine.errors import ConstraintError
from specvino.engine.request import Constraint, JsonSchema, Sampling, StructuralTag
from specvino.engine.segments import Started
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.sampling import unconstrainable

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FormatFields:
    """The fields of a request that say how its answer must look; only responses have a `text.format`."""

    response_format: BaseModel | None = None
    text_format: BaseModel | None = None


@dataclass(frozen=True, slots=True)
class StructuredOutput:
    """A constraint and the field that it comes from; of the engine's paths the first `skipped` keys are not in it."""

    constraint: Constraint
    param: str
    skipped: int = 0

    def param_of(self, path: Path) -> str:
        """Returns the field that a path of the engine's leads to."""
        return ".".join(map(str, (self.param, *path[self.skipped :])))

    def unenforced(self, started: Started) -> list[str]:
        """Returns the fields that the answer won't be constrained by."""
        return [self.param_of(path) for path in started.unenforced]

    def refusal(self, error: ConstraintError) -> ApiError:
        """Makes an error for the client of what the engine says against the constraint."""
        param = self.param_of(error.path)
        if error.unsupported:
            return ApiError(
                ErrorCode.UNSUPPORTED_SCHEMA, f"{param} can't be enforced, as strict demands: {error}.", param=param
            )
        return ApiError(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {error}.", param=param)


def structured_output(fields: FormatFields, sampling: Sampling, *, strict: bool = False) -> StructuredOutput | None:
    """Returns the constraint of an answer, None where any text will do.

    `strict` is for all schemas, whatever they say themselves. Raises ApiError.
    """
    own = _of_text_format(fields.text_format, strict)
    other = _of_response_format(fields.response_format, strict)
    if own and other:
        message = "response_format and text.format both ask for a structured output; accepted is one of them."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="response_format")
    output = own or other
    if output is not None:
        for param in unconstrainable(sampling):
            message = f"{param} can't be combined with {output.param}: the answer would not be constrained."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param=param)
    return output


def of_tag(tag: Mapping[str, Any], param: str, *, strict: bool = False, skipped: int = 0) -> StructuredOutput:
    """Returns a structural tag as XGrammar defines it, made for the field `param`; `skipped` as in StructuredOutput."""
    return StructuredOutput(StructuralTag(tag, strict), param, skipped)


@contextmanager
def refusals(output: StructuredOutput | None) -> Iterator[None]:
    """Makes an ApiError of what an engine says against the constraint."""
    try:
        yield
    except ConstraintError as error:
        assert output is not None
        raise output.refusal(error) from error


def _of_response_format(format: BaseModel | None, strict: bool) -> StructuredOutput | None:
    match format:
        case models.ResponseFormatJsonObject():
            return _json_object("response_format")
        case models.ResponseFormatJsonSchema():
            named = _plain(format.json_schema) or {}
            param = "response_format.json_schema"
            if "schema" not in named:
                return _json_schema(named, param, strict)
            return _json_schema(named["schema"] or {}, f"{param}.schema", strict or bool(named.get("strict")))
        case models.ResponseFormatStructuralTag(type="structural_tag"):
            return of_tag(_plain(format), "response_format", strict=strict)
        case models.ResponseFormatStructuralTag():
            tag = {"type": "structural_tag", "format": _plain(format)}
            return of_tag(tag, "response_format", strict=strict, skipped=1)
    return None


def _of_text_format(format: BaseModel | None, strict: bool) -> StructuredOutput | None:
    match format:
        case models.TextResponseFormatJsonObject():
            return _json_object("text.format")
        case models.TextResponseFormatJsonSchema():
            plain = _plain(format)
            return _json_schema(plain["schema"] or {}, "text.format.schema", strict or bool(plain.get("strict")))
    return None


def _json_object(param: str) -> StructuredOutput:
    return StructuredOutput(JsonSchema({"type": "object"}), param)


def _json_schema(schema: Any, param: str, strict: bool) -> StructuredOutput:
    return StructuredOutput(JsonSchema(schema, strict), param)


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True) if isinstance(value, BaseModel) else value
