"""The parts of the exchange in OpenAI's own OpenAPI document, under the names that this project has for them."""

from collections.abc import Iterator, Mapping
from typing import Any

from specvino.document.operations import EVENTS, JSON, Operation, Schema, operations

# OpenAI's operations have names of their own.
ENDPOINTS = {
    "POST /chat/completions": "chat",
    "POST /completions": "completions",
    "POST /responses": "responses",
    "POST /responses/compact": "compact",
    "POST /responses/input_tokens": "input_tokens",
    "GET /responses/{response_id}": "response",
    "DELETE /responses/{response_id}": "response_deletion",
    "POST /responses/{response_id}/cancel": "response_cancel",
    "GET /responses/{response_id}/input_items": "response_input_items",
    "POST /conversations": "conversations",
    "GET /conversations/{conversation_id}": "conversation",
    "POST /conversations/{conversation_id}": "conversation_update",
    "DELETE /conversations/{conversation_id}": "conversation_deletion",
    "GET /conversations/{conversation_id}/items": "conversation_items",
    "POST /conversations/{conversation_id}/items": "conversation_items_creation",
    "GET /conversations/{conversation_id}/items/{item_id}": "conversation_item",
    "DELETE /conversations/{conversation_id}/items/{item_id}": "conversation_item_deletion",
    "GET /models": "models",
    "GET /models/{model}": "model",
}


def parts_of_openai(document: Mapping[str, Any]) -> dict[tuple[str, str], Schema]:
    """Returns the schemas by endpoint and part."""
    found: dict[tuple[str, str], Schema] = {}
    for operation in operations(document):
        if endpoint := ENDPOINTS.get(operation.label):
            content = operation.content()
            for part, schema in (
                ("request", operation.body),
                ("query", query(operation)),
                ("response", content.get(JSON, {}).get("schema")),
                ("stream", content.get(EVENTS, {}).get("schema")),
            ):
                if schema:
                    found[endpoint, part] = schema
    # The document has no stream of completions, and says in words that its events are like the answer.
    found["completions", "stream"] = found["completions", "response"]
    found["error", "response"] = _reference("ErrorResponse")
    return found


def parts_of_ours(document: Mapping[str, Any]) -> dict[tuple[str, str], Schema]:
    """Returns the schemas of one of this project's documents by endpoint and part."""
    found: dict[tuple[str, str], Schema] = {}
    for operation in operations(document):
        for part, schema in (
            ("request", operation.body),
            ("query", query(operation)),
            ("response", operation.content().get(JSON, {}).get("schema")),
            ("stream", operation.event and _without_errors(document, operation.event)),
        ):
            if schema:
                found[operation.endpoint, part] = schema
    found["error", "response"] = _reference("ErrorResponse")
    return found


def query(operation: Operation) -> Schema | None:
    """Returns the query parameters of an operation as the schema of an object; None where it has none."""
    parameters = operation.parameters_in("query")
    properties = {each["name"]: each["schema"] for each in parameters}
    required = [each["name"] for each in parameters if each.get("required")]
    return {"type": "object", "properties": properties, "required": required} if parameters else None


def _without_errors(document: Mapping[str, Any], event: Schema) -> Schema:
    """Returns the schema of the events that are no error, which OpenAI's document leaves out."""
    error = _reference("ErrorResponse")
    return {"anyOf": [branch for branch in _branches(document, event) if branch != error]}


def _branches(document: Mapping[str, Any], schema: Schema) -> Iterator[Schema]:
    target = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    branches = target.get("anyOf") or target.get("oneOf")
    yield from branches or [schema]


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
