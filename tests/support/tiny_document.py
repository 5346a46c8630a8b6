"""Documents of one endpoint, `talk`, to try the rules of codegen on."""

from typing import Any

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def kind(value: str, **properties: Schema) -> Schema:
    """An object that a const `type` tells from others, all its properties required."""
    return object_of(type={"const": value}, **properties) | {"required": ["type", *properties]}


def object_of(**properties: Schema) -> Schema:
    """An object of OpenAI's whose fields are supported."""
    marked = {"x-origin": "openai", "x-handling": "supported"}
    return {"type": "object", "properties": {name: marked | child for name, child in properties.items()}}


def talk(
    ask: Schema | None = None, answer: Schema | None = None, event: Schema | None = None, **schemas: Schema
) -> dict[str, Any]:
    """POST /talk takes an Ask; it gives an Answer and, where there is an event, a stream of those."""
    content: dict[str, Any] = {"application/json": {"schema": ref("Answer")}}
    if event is not None:
        data = {"type": "string", "contentMediaType": "application/json", "contentSchema": ref("Event")}
        content["text/event-stream"] = {"itemSchema": {"properties": {"data": data}}}
        schemas["Event"] = event
    named = {"Ask": ask or object_of(), "Answer": answer or object_of(), "ErrorResponse": object_of(error=ref("Error"))}
    operation = {
        "operationId": "talk",
        "tags": ["Talk"],
        "x-endpoint": "talk",
        "requestBody": {"content": {"application/json": {"schema": ref("Ask")}}},
        "responses": {"200": {"description": "An answer.", "content": content}},
    }
    return {
        "openapi": "3.2.0",
        "info": {"title": "Tiny", "version": "1"},
        "servers": [{"url": "/v1", "name": "only"}],
        "tags": [{"name": "Talk", "summary": "Talk", "kind": "nav"}],
        "paths": {"/talk": {"post": operation}},
        "components": {"schemas": {**named, "Error": object_of(message={"type": "string"}), **schemas}},
    }


def dialect(request: Any = None, response: Any = None, stream: Any = None, error: Any = "full") -> dict[str, Any]:
    """One that says this of the parts of `talk`, and this of the error."""
    parts = {"request": request, "response": response, "stream": stream}
    fields = {
        "talk": {part: rows for part, rows in parts.items() if rows is not None},
        "error": {"response": {"error": error}},
    }
    return {
        "name": "Odd",
        "base_paths": ["/odd"],
        "auth": {},
        "headers": [],
        "errors": {"envelope": "openai", "statuses": {}},
        "stream": {},
        "unknown_fields": "ignored",
        "fields": fields,
    }
