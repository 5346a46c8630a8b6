"""The wording of validation errors: the field, its value, and what is accepted."""

import json
from typing import Any

from jsonschema_rs import ValidationError

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

Path = tuple[str | int, ...]

# The maximum number of characters of a value in a message.
MOST_SHOWN = 80

_encode_lazily = json.JSONEncoder(ensure_ascii=False).iterencode

# keyword -> the error code, where it follows from the keyword alone
CODES = {
    "minLength": ErrorCode.STRING_BELOW_MIN_LENGTH,
    "maxLength": ErrorCode.STRING_ABOVE_MAX_LENGTH,
    "minItems": ErrorCode.ARRAY_BELOW_MIN_LENGTH,
    "maxItems": ErrorCode.ARRAY_ABOVE_MAX_LENGTH,
    "maxProperties": ErrorCode.OBJECT_ABOVE_MAX_PROPERTIES,
}


def dotted(path: Path) -> str | None:
    """Returns a path as in `messages.1.content`; None for the body as a whole."""
    return ".".join(map(str, path)) or None


def refuse(code: ErrorCode, path: Path, value: Any, accepted: str) -> ApiError:
    return ApiError(code, f"{_name(path)} is {_show(value)}, but must be {accepted}.", param=dotted(path))


def refuse_missing(path: Path, accepted: list[str] | None = None) -> ApiError:
    """Returns the error for a missing property; `accepted` are its possible values."""
    choices = f"; accepted values: {', '.join(accepted)}" if accepted else ""
    return ApiError(ErrorCode.MISSING_REQUIRED_PARAMETER, f"{dotted(path)} is required{choices}.", param=dotted(path))


def refuse_unknown(path: Path) -> ApiError:
    """Returns the error for a property that the API doesn't have."""
    return ApiError(ErrorCode.UNKNOWN_PARAMETER, f"Unknown parameter: {dotted(path)}.", param=dotted(path))


def refuse_keyword(error: ValidationError, schema: dict[str, Any], path: Path) -> ApiError:
    """Returns the error for a keyword of `schema` that the value at `path` breaks."""
    kind: Any = error.kind  # each kind of keyword has its own attributes
    keyword = kind.name
    path = (*path, *error.instance_path)
    if keyword == "required":
        return refuse_missing((*path, kind.property))
    if keyword not in schema:  # it belongs to a nested schema that the search didn't reach
        return refuse(ErrorCode.INVALID_VALUE, path, error.instance, "valid according to the document")
    if keyword == "type":
        return refuse(ErrorCode.INVALID_TYPE, path, error.instance, types(schema["type"]))
    if keyword in CODES:
        return _refuse_size(keyword, path, error.instance, kind.limit)
    if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        return _refuse_number(path, error, keyword, schema)
    return refuse(ErrorCode.INVALID_VALUE, path, error.instance, _accepted(keyword, schema))


def refuse_key(key: str, error: ValidationError, schema: dict[str, Any], path: Path) -> ApiError:
    """Returns the error for a key of the object at `path` that breaks `schema`, which is that of its keys."""
    accepted = _accepted(error.kind.name, schema)
    message = f"{_name(path)} has the key {_show(key)}, but its keys must be {accepted}."
    return ApiError(ErrorCode.INVALID_VALUE, message, param=dotted(path))


def types(names: str | list[str]) -> str:
    """Returns JSON types in words."""
    words = {"integer": "an integer", "object": "an object", "array": "a list", "null": "null"}
    return " or ".join(words.get(name, f"a {name}") for name in ([names] if isinstance(names, str) else names))


def _refuse_number(path: Path, error: ValidationError, keyword: str, schema: dict[str, Any]) -> ApiError:
    bound = {
        "minimum": "at least",
        "maximum": "at most",
        "exclusiveMinimum": "greater than",
        "exclusiveMaximum": "less than",
    }[keyword]
    # A rule between fields bounds a value without a type of its own.
    is_integer = "integer" in schema["type"] if "type" in schema else isinstance(error.instance, int)
    kind = "integer" if is_integer else "decimal"
    side = "below_min" if keyword in ("minimum", "exclusiveMinimum") else "above_max"
    return refuse(ErrorCode(f"{kind}_{side}_value"), path, error.instance, f"{bound} {schema[keyword]}")


def _refuse_size(keyword: str, path: Path, value: Any, limit: int) -> ApiError:
    unit = {"Length": "characters", "Items": "elements", "Properties": "entries"}[keyword[3:]]
    bound = "at least" if keyword.startswith("min") else "at most"
    message = f"{_name(path)} has {len(value)} {unit}, but must have {bound} {limit}."
    return ApiError(CODES[keyword], message, param=dotted(path))


def _name(path: Path) -> str:
    return dotted(path) or "The request body"


def _accepted(keyword: str, schema: dict[str, Any]) -> str:
    match keyword:
        case "enum":
            return "one of " + ", ".join(map(_show, schema["enum"]))
        case "const":
            return _show(schema["const"])
        case "pattern":
            return f"a string matching {schema['pattern']}"
        case "maxLength":  # for the keys of a map; other strings: see CODES
            return f"strings of at most {schema['maxLength']} characters"
        case "format":
            return f"a string in the format {schema['format']}"
        case "not" if schema["not"] == {}:
            return "absent"
        case "not" if schema["not"].keys() == {"type"}:
            return f"anything but {types(schema['not']['type'])}"
        case "not" if "const" in schema["not"]:
            return f"a value other than {_show(schema['not']['const'])}"
        case _:
            return f"a value that satisfies {keyword}: {_show(schema[keyword])}"


def _show(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**40:
        return "an integer of more than 40 digits"
    if isinstance(value, str):
        value = value[:MOST_SHOWN]
    text = ""
    for piece in _encode_lazily(value):  # a value may be a megabyte
        text += piece
        if len(text) > MOST_SHOWN:
            return f"{text[: MOST_SHOWN - 3]}..."
    return text
