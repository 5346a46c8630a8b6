"""A schema violation -> the error that a person needs: which field, what was there, what is accepted.

jsonschema-rs reports a union as a whole. This follows it down into the branch that was meant: of objects the one whose
kind (a `const` such as the role of a message) the value has, else the one whose JSON type fits.
"""

import json
from typing import Any

from jsonschema_rs import ValidationError

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.gate.kinds import Kinds

Path = tuple[str | int, ...]

# The most characters of a value that a message shows.
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


def explain(error: ValidationError, document: dict[str, Any]) -> ApiError:
    """The error to answer with; `document` is the schema that was broken, components and all."""
    if rule := _rule(error, document):
        return ApiError(ErrorCode.INVALID_VALUE, rule["message"], param=dotted((*_ruled(error), rule["param"])))
    kind: Any = error.kind  # each keyword's kind has attributes of its own
    keyword = kind.name
    if keyword in ("oneOf", "anyOf"):
        return _explain_union(error, document)
    path = tuple(error.instance_path)
    if keyword == "required":
        param = dotted((*path, kind.property))
        return ApiError(ErrorCode.MISSING_REQUIRED_PARAMETER, f"{param} is required.", param=param)
    schema = _schema(error, document)
    if keyword == "type":
        return _refuse(ErrorCode.INVALID_TYPE, path, error.instance, _types(schema["type"]))
    if keyword == "propertyNames":
        accepted = _accepted(kind.error.kind.name, schema)
        message = f"{_name(path)} has the key {_show(kind.error.instance)}, but its keys must be {accepted}."
        return ApiError(ErrorCode.INVALID_VALUE, message, param=dotted(path))
    if keyword in CODES:
        return _refuse_size(keyword, path, error.instance, kind.limit)
    if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        return _refuse_number(path, error, keyword, schema)
    return _refuse(ErrorCode.INVALID_VALUE, path, error.instance, _accepted(keyword, schema))


def dotted(path: Path) -> str | None:
    """`messages.1.content`; None for the body as a whole."""
    return ".".join(map(str, path)) or None


def _explain_union(error: ValidationError, document: dict[str, Any]) -> ApiError:
    path = tuple(error.instance_path)
    kind: Any = error.kind
    schemas = _schema(error, document)[kind.name]
    branches: list[list[ValidationError]] = kind.context
    fitting = [each for each in zip(schemas, branches, strict=True) if not _is_type_error_at(each[1], path)]
    if isinstance(error.instance, dict):
        kinds = Kinds(schemas, document)
        meant = kinds.meant(error.instance)
        if not meant and kinds.key:
            return _refuse_kind(error, kinds.key, kinds.known)
        fitting = [each for each in fitting if any(each[0] is schema for schema in meant)] or fitting
    if fitting:
        # Of several lists the one that was right for longer: [[1, "x"]] is a list of token lists, not of strings.
        fewest = min(len(errors) for _, errors in fitting)
        first = [_telling(errors) for _, errors in fitting if len(errors) == fewest]
        return explain(max(first, key=_progress), document)
    accepted = {_types(_schema(errors[0], document)["type"]): None for errors in branches}
    return _refuse(ErrorCode.INVALID_TYPE, path, error.instance, " or ".join(accepted))


def _refuse_kind(error: ValidationError, key: str, known: list[str]) -> ApiError:
    path = (*error.instance_path, key)
    accepted = ", ".join(known)
    instance: Any = error.instance
    if key not in instance:
        message = f"{dotted(path)} is required; accepted are: {accepted}."
        return ApiError(ErrorCode.MISSING_REQUIRED_PARAMETER, message, param=dotted(path))
    code = ErrorCode.INVALID_VALUE if isinstance(instance[key], str) else ErrorCode.INVALID_TYPE
    return _refuse(code, path, instance[key], f"one of {accepted}")


def _telling(errors: list[ValidationError]) -> ValidationError:
    """The first error, or the one that says why: an object whose `type` is another lacks other fields as well."""
    first = errors[0]
    place = tuple(first.instance_path)
    kinds = [e for e in errors if e.kind.name == "const" and tuple(e.instance_path)[:-1] == place]
    return kinds[0] if kinds else first


def _progress(error: ValidationError) -> list[int]:
    """How far into lists the value was right."""
    return [step for step in error.instance_path if isinstance(step, int)]


def _is_type_error_at(errors: list[ValidationError], path: Path) -> bool:
    return any(error.kind.name == "type" and tuple(error.instance_path) == path for error in errors)


def _schema(error: ValidationError, document: dict[str, Any]) -> dict[str, Any]:
    """The schema whose keyword was broken."""
    node: Any = document
    for part in tuple(error.schema_path)[:-1]:
        node = node[part]
    schema: dict[str, Any] = node
    return schema


def _rule(error: ValidationError, document: dict[str, Any]) -> dict[str, str] | None:
    """What the document says of a rule between fields (`x-rule`), where that is what was broken."""
    path = tuple(error.schema_path)
    if "then" not in path:
        return None
    node: Any = document
    for part in path[: path.index("then")]:
        node = node[part]
    rule: dict[str, str] | None = node.get("x-rule")
    return rule


def _ruled(error: ValidationError) -> Path:
    """The path of the object that a rule is about; the error may lie in one of its properties."""
    steps = tuple(error.schema_path)
    below = steps[steps.index("then") :].count("properties")
    path = tuple(error.instance_path)
    return path[: len(path) - below]


def _refuse_number(path: Path, error: ValidationError, keyword: str, schema: dict[str, Any]) -> ApiError:
    bound = {
        "minimum": "at least",
        "maximum": "at most",
        "exclusiveMinimum": "greater than",
        "exclusiveMaximum": "less than",
    }[keyword]
    kind = "integer" if "integer" in schema["type"] else "decimal"
    side = "below_min" if keyword in ("minimum", "exclusiveMinimum") else "above_max"
    return _refuse(ErrorCode(f"{kind}_{side}_value"), path, error.instance, f"{bound} {schema[keyword]}")


def _refuse_size(keyword: str, path: Path, value: Any, limit: int) -> ApiError:
    unit = {"Length": "characters", "Items": "elements", "Properties": "entries"}[keyword[3:]]
    bound = "at least" if keyword.startswith("min") else "at most"
    message = f"{_name(path)} has {len(value)} {unit}, but must have {bound} {limit}."
    return ApiError(CODES[keyword], message, param=dotted(path))


def _refuse(code: ErrorCode, path: Path, value: Any, accepted: str) -> ApiError:
    return ApiError(code, f"{_name(path)} is {_show(value)}, but must be {accepted}.", param=dotted(path))


def _name(path: Path) -> str:
    return dotted(path) or "The request body"


def _accepted(keyword: str, schema: dict[str, Any]) -> str:
    match keyword:
        case "enum":
            return "one of " + ", ".join(map(_show, schema["enum"]))
        case "const":
            return _show(schema["const"])
        case "pattern":
            return f"a text that matches {schema['pattern']}"
        case "format":
            return f"a text of the format {schema['format']}"
        case "not" if "const" in schema["not"]:
            return f"another value than {_show(schema['not']['const'])}"
        case _:
            return f"a value that satisfies {keyword}: {_show(schema[keyword])}"


def _types(types: str | list[str]) -> str:
    words = {"integer": "an integer", "object": "an object", "array": "a list", "null": "null"}
    return " or ".join(words.get(name, f"a {name}") for name in ([types] if isinstance(types, str) else types))


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
