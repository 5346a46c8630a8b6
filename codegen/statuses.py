"""The answers of operations in one system: headers, and the statuses and schemas of errors."""

from typing import Any

from specvino.document.operations import Schema, envelope_of, operations
from specvino.document.pointers import resolved

# The kinds of error with their meanings, by our statuses. A dialect lists the status (or statuses) of its system for
# each kind: null if it doesn't have the kind, `unknown` if the status is unknown. Both are left out of its document,
# which contains only known facts about the system.
KINDS: dict[str, dict[str, str]] = {
    "400": {
        "json": "The body is no JSON, or not of the right shape.",
        "validation": "The request is not one that this API describes, or can't be answered.",
    },
    "401": {"key": "The key is missing or wrong."},
    "404": {"unknown_model": "There is no such model."},
    "413": {"too_large": "The body is too large."},
    "415": {"media_type": "The body is not declared as JSON."},
    "500": {"fault": "The server failed."},
    "503": {"unavailable": "The server can't answer yet, or no longer.", "overload": "There are too many requests."},
}

# The envelopes of errors, as media type and schema.
ENVELOPES: dict[str, tuple[str, Schema]] = {
    "openai": ("application/json", {"$ref": "#/components/schemas/ErrorResponse"}),
    "anthropic": ("application/json", {"$ref": "#/components/schemas/AnthropicErrorResponse"}),
    "flat": ("application/json", {"$ref": "#/components/schemas/FlatError"}),
    "string": ("application/json", {"$ref": "#/components/schemas/ErrorText"}),
    "detail": ("application/json", {"$ref": "#/components/schemas/ErrorDetail"}),
    "json text": ("application/json", {"$ref": "#/components/schemas/ErrorInText"}),
    "text": ("text/plain", {"type": "string", "description": "What went wrong."}),
}

# Our errors in Ollama's API. An answer that keeps them in a system's document gets the system's form (`_in_form`).
OURS: Schema = {"$ref": "#/components/schemas/OllamaErrorResponse"}

COMPONENTS: dict[str, Schema] = {
    "FlatError": {
        "type": "object",
        "title": "FlatError",
        "description": "An error that is the whole body, without an object around it.",
        "required": ["object", "message", "type", "param", "code"],
        "properties": {
            "object": {"const": "error", "description": "The kind of object."},
            "message": {"type": "string", "description": "What went wrong."},
            "type": {"type": "string", "description": "The kind of error."},
            "param": {"type": ["string", "null"], "description": "The field at fault."},
            "code": {"type": "integer", "description": "The HTTP status."},
        },
    },
    "ErrorText": {
        "type": "object",
        "title": "ErrorText",
        "description": "An error as a text.",
        "required": ["error"],
        "properties": {"error": {"type": "string", "description": "What went wrong."}},
    },
    "ErrorDetail": {
        "type": "object",
        "title": "ErrorDetail",
        "description": "An error as FastAPI gives it.",
        "required": ["detail"],
        "properties": {"detail": {"description": "What went wrong: a text, or a list of findings in the request."}},
    },
    "ErrorInText": {
        "type": "string",
        "title": "ErrorInText",
        "description": "A JSON text within a JSON text, so it is decoded twice.",
        "contentMediaType": "application/json",
        "contentSchema": {"$ref": "#/components/schemas/ErrorInside"},
    },
    "ErrorInside": {
        "type": "object",
        "title": "ErrorInside",
        "description": "An error with its status.",
        "required": ["object", "message", "code"],
        "properties": {
            "object": {"const": "error", "description": "The kind of object."},
            "message": {"type": "string", "description": "What went wrong."},
            "code": {"type": "integer", "description": "The HTTP status."},
        },
    },
}


def adapt_answers(document: dict[str, Any], dialect: dict[str, Any]) -> None:
    """Sets the headers, errors and keys of every operation to those of the system, in place."""
    document["components"]["schemas"] |= COMPONENTS
    for operation in (item.definition for item in operations(document)):
        if operation["x-endpoint"] in dialect["auth"].get("open", ()):
            operation["security"] = []
        answers = operation["responses"]
        operation["responses"] = {
            status: _with_headers(_in_form(resolved(document, answer), status, operation, dialect), dialect["headers"])
            for status, answer in answers.items()
            if status not in KINDS
        } | _errors(document, operation, dialect)


def _in_form(answer: dict[str, Any], status: str, operation: dict[str, Any], dialect: dict[str, Any]) -> dict[str, Any]:
    """Returns the answer; if it has our form of the errors of Ollama's API, with the system's form."""
    if answer.get("content", {}).get("application/json", {}).get("schema") != OURS:
        return answer
    media, schema = ENVELOPES[envelope_of(dialect["errors"], operation["x-endpoint"], status)]
    return answer | {"content": {media: {"schema": dict(schema)}}}


def _errors(document: dict[str, Any], operation: dict[str, Any], dialect: dict[str, Any]) -> dict[str, Any]:
    errors = dialect["errors"]
    statuses = errors["statuses"] | errors.get("at", {}).get(operation["x-endpoint"], {})
    meanings: dict[str, list[str]] = {}
    headers: dict[str, dict[str, Any]] = {}
    for ours, kinds in KINDS.items():
        if ours not in operation["responses"]:
            continue
        answer = resolved(document, operation["responses"][ours])
        for kind, meaning in kinds.items():
            if (kind == "json" and "requestBody" not in operation) or (kind == "key" and _open(operation)):
                continue
            for status in _listed(statuses.get(kind)):
                meanings.setdefault(status, []).append(meaning)
                headers.setdefault(status, {}).update(_with_headers(answer, dialect["headers"]).get("headers", {}))
    answers: dict[str, Any] = {}
    for status in sorted(meanings):
        media, schema = ENVELOPES[envelope_of(errors, operation["x-endpoint"], status)]
        answers[status] = {"description": " ".join(meanings[status]), "content": {media: {"schema": dict(schema)}}}
        if headers[status]:
            answers[status]["headers"] = headers[status]
    return answers


def _open(operation: dict[str, Any]) -> bool:
    return operation.get("security") == []


def _listed(status: Any) -> list[str]:
    statuses = status if isinstance(status, list) else [status]
    return [str(status) for status in statuses if isinstance(status, int)]


def _with_headers(answer: dict[str, Any], known: list[str]) -> dict[str, Any]:
    """Returns the answer with only the known headers."""
    kept = {name: header for name, header in answer.get("headers", {}).items() if name in known}
    rest = {key: value for key, value in answer.items() if key != "headers"}
    return rest | {"headers": kept} if kept else rest
