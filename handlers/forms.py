"""The form that an answer must have: `response_format` and `text.format` -> a constraint for the engine."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from specvino.engine.errors import ConstraintError
from specvino.engine.request import Constraint, JsonSchema, StructuralTag
from specvino.engine.segments import Started
from specvino.generated import models
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.given import given
from specvino.handlers.sampling import beyond_forms

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A constraint and the field that it comes from; of the engine's paths the first `skipped` keys are not in it."""

    constraint: Constraint
    param: str
    skipped: int = 0

    def param_of(self, path: Path) -> str:
        """The field that a path of the engine's leads to."""
        return ".".join(map(str, (self.param, *path[self.skipped :])))

    def unenforced(self, started: Started) -> list[str]:
        """The fields that the answer won't be held to."""
        return [self.param_of(path) for path in started.unenforced]

    def refusal(self, error: ConstraintError) -> ApiError:
        param = self.param_of(error.path)
        if error.unsupported:
            return ApiError(
                ErrorCode.UNSUPPORTED_SCHEMA, f"{param} can't be enforced, as strict demands: {error}.", param=param
            )
        return ApiError(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {error}.", param=param)


def of_chat(body: models.CreateChatCompletionRequest, *, strict: bool = False) -> Form | None:
    """None where any text will do. `strict` is for all schemas, whatever they say themselves. Raises ApiError."""
    return _with_settings(body, _of_response_format(given(body.response_format), strict))


def of_response(body: models.CreateResponseRequest, *, strict: bool = False) -> Form | None:
    """As `of_chat`."""
    settings = given(body.text)
    own = _of_text_format(given(settings.format) if settings else None, strict)
    other = _of_response_format(given(body.response_format), strict)
    if own and other:
        message = "response_format and text.format both ask for a form; accepted is one of them."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="response_format")
    return _with_settings(body, own or other)


def of_tag(tag: Mapping[str, Any], param: str, *, strict: bool = False, skipped: int = 0) -> Form:
    """A structural tag as XGrammar defines it, made for the field `param`; `skipped` as in Form."""
    return Form(StructuralTag(tag, strict), param, skipped)


@contextmanager
def refusals(form: Form | None) -> Iterator[None]:
    """What an engine says against the form becomes an ApiError."""
    try:
        yield
    except ConstraintError as error:
        assert form is not None
        raise form.refusal(error) from error


def _with_settings(
    body: models.CreateChatCompletionRequest | models.CreateResponseRequest, form: Form | None
) -> Form | None:
    if form is not None:
        for param in beyond_forms(body):
            message = f"{param} can't be had together with {form.param}: the pipeline would go on without the form."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param=param)
    return form


def _of_response_format(format: BaseModel | None, strict: bool) -> Form | None:
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


def _of_text_format(format: BaseModel | None, strict: bool) -> Form | None:
    match format:
        case models.ResponseFormatJsonObject():
            return _json_object("text.format")
        case models.TextResponseFormatJsonSchema():
            plain = _plain(format)
            return _json_schema(plain["schema"] or {}, "text.format.schema", strict or bool(plain.get("strict")))
    return None


def _json_object(param: str) -> Form:
    return Form(JsonSchema({"type": "object"}), param)


def _json_schema(schema: Any, param: str, strict: bool) -> Form:
    return Form(JsonSchema(schema, strict), param)


def _plain(value: Any) -> Any:
    return value.model_dump(by_alias=True) if isinstance(value, BaseModel) else value
