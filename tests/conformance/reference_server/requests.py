"""Judges requests by the document."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs

from reference_server.http import Call, Headers
from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.document.loading import whole
from specvino.generated.errors import ErrorCode
from specvino.generated.support import SHAPES, UNIONS

MOST_REPORTED = 16

BOUNDS = {
    "minLength": ErrorCode.STRING_BELOW_MIN_LENGTH,
    "maxLength": ErrorCode.STRING_ABOVE_MAX_LENGTH,
    "minItems": ErrorCode.ARRAY_BELOW_MIN_LENGTH,
    "maxItems": ErrorCode.ARRAY_ABOVE_MAX_LENGTH,
    "maxProperties": ErrorCode.OBJECT_ABOVE_MAX_PROPERTIES,
    "type": ErrorCode.INVALID_TYPE,
    "anyOf": ErrorCode.INVALID_TYPE,
}


class Requests(Part):
    """What the operations that take a body have in common."""

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        """The body without its nulls, which mean absent. Raises Refusal."""
        error = next(self.violations(component, call.body), None)
        if error is not None:
            raise self.refusal(component, error)
        call.unsupported += [*self.unsupported(call.body, component), *self.results_without_calls(call.body)]
        if "model" in SHAPES[component].fields:
            self.server.models.require_model(call.body["model"])
        return self.given(call.body)

    def results_without_calls(self, body: Mapping[str, Any]) -> Iterator[str]:
        """The ids of calls that results name and the conversation doesn't have, as paths."""
        called: set[Any] = set()
        for index, message in enumerate(body.get("messages") or ()):
            called |= {named.get("id") for named in message.get("tool_calls") or ()}
            id = message.get("tool_call_id")
            if message.get("role") == "tool" and id is not None and id not in called:
                yield f"messages.{index}.tool_call_id"
        items = body.get("input")
        is_continued = body.get("previous_response_id") or body.get("conversation")
        for index, item in enumerate(items if isinstance(items, list) and not is_continued else ()):
            kind = item.get("type") if isinstance(item, Mapping) else None
            if kind in ("function_call", "custom_tool_call", "item_reference"):
                called |= {item.get("call_id"), item.get("id")}
            elif kind in ("function_call_output", "custom_tool_call_output") and item.get("call_id") not in called:
                yield f"input.{index}.call_id"

    def given(self, body: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in body.items() if value is not None}

    def violations(self, component: str, body: Any) -> Iterator[jsonschema_rs.ValidationError]:
        """What the document has against a body."""
        try:
            yield from validator(component).iter_errors(body)
        except ValueError:  # nested too deeply
            raise Refusal(ErrorCode.INVALID_JSON, "The request body is nested too deeply.") from None

    def refusal(self, component: str, error: jsonschema_rs.ValidationError) -> Refusal:
        if rule := rule_of(component, error):
            return Refusal(ErrorCode.INVALID_VALUE, rule["message"], rule["param"])
        error = nearest(error)
        code = code_of(error)
        return Refusal(code, self.message(error), self.param(error))

    def message(self, error: jsonschema_rs.ValidationError) -> str:
        return f"The request is not valid: {error.message[:300]}"

    def param(self, error: jsonschema_rs.ValidationError) -> str | None:
        """The field that an error is about, as a dotted path."""
        path = [*map(str, error.instance_path)]
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
            path.append(error.kind.property)
        return ".".join(path) or None

    def unsupported(self, body: Any, component: str) -> list[str]:
        """The fields that have no effect."""
        return [*without_effect(body, component, "")]

    def unsupported_headers(self, call: Call) -> Headers:
        names = ", ".join(quote(name[:100], safe=".-_~[]") for name in call.unsupported[:MOST_REPORTED])
        return [(b"x-unsupported-params", names.encode())] if names else []


@cache
def validator(component: str) -> jsonschema_rs.Draft202012Validator:
    document = whole()
    schema = {**document["components"]["schemas"][component], "components": document["components"]}
    return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


def rule_of(component: str, error: jsonschema_rs.ValidationError) -> dict[str, str] | None:
    """The rule between fields that an error breaks."""
    path = [*error.schema_path]
    if path[:1] != ["allOf"]:
        return None
    rule: dict[str, str] | None = whole()["components"]["schemas"][component]["allOf"][int(path[1])].get("x-error")
    return rule


def nearest(error: jsonschema_rs.ValidationError) -> jsonschema_rs.ValidationError:
    """In the branch of a union that fits best, what is wrong there: the one whose error lies deepest."""
    branches = [branch for branch in getattr(error.kind, "context", None) or () if branch]
    depth = len(error.instance_path)

    def deepest(branch: list[jsonschema_rs.ValidationError]) -> int:
        return max(len(error.instance_path) + (error.kind.name == "required") for error in branch)

    # A branch for another kind of object says so at its constants.
    meant = [
        branch
        for branch in branches
        if not any(one.kind.name in ("const", "type") and len(one.instance_path) <= depth + 1 for one in branch)
    ]
    meant = meant or [branch for branch in branches if deepest(branch) > depth]
    if not meant:
        return error
    best = max(meant, key=deepest)
    return nearest(max(best, key=lambda error: len(error.instance_path)))


def code_of(error: jsonschema_rs.ValidationError) -> ErrorCode:
    keyword = error.kind.name
    if keyword == "required":
        return ErrorCode.MISSING_REQUIRED_PARAMETER
    if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        kind = "integer" if isinstance(error.instance, int) else "decimal"
        return ErrorCode(f"{kind}_{'below_min' if 'Minimum' in keyword or keyword == 'minimum' else 'above_max'}_value")
    return BOUNDS.get(keyword, ErrorCode.INVALID_VALUE)


def without_effect(value: Any, shape: str, path: str) -> Iterator[str]:
    """The paths of fields that the document doesn't know, or doesn't support."""
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from without_effect(element, shape, f"{path}{index}.")
    component = _meant(value, shape) if isinstance(value, dict) else None
    if component is None or not SHAPES[component].required <= value.keys():
        return
    for name, child in value.items():
        field = SHAPES[component].fields.get(name)
        if child is None:
            continue
        if field is None or (
            (field.handling == "unsupported" or field.supported_values is not None)
            and not (field.supported_values is not None and jsonschema_rs.is_valid(dict(field.supported_values), child))
        ):
            yield f"{path}{name}"
        elif field.shape is not None:
            yield from without_effect(child, field.shape, f"{path}{name}.")


def _meant(value: dict[str, Any], shape: str) -> str | None:
    """The kind of object that a valid value is."""
    if shape in SHAPES:
        return shape
    for branch in UNIONS[shape].branches:
        kind = SHAPES[branch]
        if kind.required <= value.keys() and all(
            name not in value or value[name] in allowed for name, allowed in kind.values.items()
        ):
            return branch
    return None
