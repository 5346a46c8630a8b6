"""The operations of a document, and their paths on a server."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.document.pointers import component_name, resolved

Schema = dict[str, Any]
"""A JSON Schema of a document."""

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

JSON = "application/json"
EVENTS = "text/event-stream"
LINES = "application/x-ndjson"

FRAMINGS = {"data": EVENTS, "event": EVENTS, "lines": LINES}
"""The media type of a stream, by the `framing` of its `x-stream`."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a document."""

    path: str
    """Its path without a base path, such as `/models/{model}`."""
    method: str
    """Its method in capital letters, such as `POST`."""
    item: Mapping[str, Any]
    """The path item that contains it."""
    definition: dict[str, Any]
    """The operation object of OpenAPI."""
    document: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its operationId."""
        return str(self.definition["operationId"])

    @property
    def endpoint(self) -> str:
        """Its name in fields, cases and pages, such as `chat`."""
        return str(self.definition["x-endpoint"])

    @property
    def is_also_at_root(self) -> bool:
        """Whether this server also serves its path at the root, in addition to the base paths."""
        return bool(self.definition.get("x-served-at-root"))

    @property
    def is_only_at_root(self) -> bool:
        """Whether a system serves its path only at the root. The operation has `servers` then."""
        return "servers" in self.definition

    @property
    def label(self) -> str:
        """Its name in messages, such as `POST /chat/completions`."""
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """The parameters of the path item, followed by its own."""
        parameters = (*self.item.get("parameters", ()), *self.definition.get("parameters", ()))
        return [resolved(self.document, parameter) for parameter in parameters]

    def parameters_in(self, location: str) -> list[dict[str, Any]]:
        """Returns the parameters in `path`, `query` or `header`."""
        return [parameter for parameter in self.parameters if parameter["in"] == location]

    @property
    def body(self) -> Schema | None:
        """The schema of the JSON body; None if it has none."""
        content = resolved(self.document, self.definition.get("requestBody", {})).get("content", {})
        schema: Schema | None = content.get(JSON, {}).get("schema")
        return schema

    @property
    def body_component(self) -> str | None:
        """The name of the component that is the JSON body; None if there is none."""
        return name_of(self.body)

    def content(self, status: str = "200") -> dict[str, Any]:
        """Returns the media types of the answer with that status; empty if the document has no such answer."""
        answer = resolved(self.document, self.definition["responses"].get(status, {}))
        media_types: dict[str, Any] = answer.get("content", {})
        return media_types

    @property
    def stream(self) -> dict[str, Any] | None:
        """The media type object of its stream; None if it has no stream."""
        content = self.content()
        return next((content[name] for name in (EVENTS, LINES) if name in content), None)

    @property
    def streams_by_default(self) -> bool:
        """Whether a body without `stream` asks for a stream."""
        fields = resolved(self.document, self.body or {}).get("properties", {})
        return fields.get("stream", {}).get("default") is True

    @property
    def conditions(self) -> Iterator[tuple[str, str]]:
        """The conditions between fields under which a body is refused: error codes and sentences.

        Those that the schema of the body states come first, as servers check them.
        """
        for rule in resolved(self.document, self.body or {}).get("allOf", ()):
            if "x-error" in rule:
                yield "invalid_value", rule["x-error"]["message"]
        for refusal in self.definition.get("x-refusals", ()):
            if "condition" in refusal:
                yield refusal["code"], refusal["when"]

    @property
    def event(self) -> Schema | None:
        """The schema of one decoded event of its stream; None if it has no stream."""
        return None if self.stream is None else event_of(self.document, self.stream)


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Yields every operation, in the order of the paths and of the methods within a path."""
    for path, item in document["paths"].items():
        for method, definition in list(item.items()):
            if method in METHODS:
                yield Operation(path, method.upper(), item, definition, document)


def by_endpoint(document: Mapping[str, Any]) -> dict[str, Operation]:
    """Returns the operations by endpoint name."""
    return {operation.endpoint: operation for operation in operations(document)}


def base_paths(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the base paths of a document, in the order of its `servers`."""
    return tuple(server["url"] for server in document["servers"])


def event_data(document: Mapping[str, Any], media: Mapping[str, Any]) -> list[Schema]:
    """Returns the possible schemas of an event's data, by a stream's media type object in any version of OpenAPI. A
    line has no data: it is the event.
    """
    item = resolved(document, media.get("itemSchema") or media["x-itemSchema"])
    data = item.get("properties", {}).get("data", {})
    branches: list[Schema] = data.get("anyOf", [data])
    return branches


def event_of(document: Mapping[str, Any], media: Mapping[str, Any]) -> Schema:
    """Returns the schema of a decoded event, by a stream's media type object."""
    schema: Schema = next(
        (branch["contentSchema"] for branch in event_data(document, media) if "contentSchema" in branch),
        media.get("itemSchema") or media.get("x-itemSchema") or {},
    )
    return schema


def name_of(schema: Mapping[str, Any] | None) -> str | None:
    """Returns the name of the component that a schema refers to; None if the schema isn't a reference."""
    return component_name(schema["$ref"]) if schema and "$ref" in schema else None


def envelope_of(errors: dict[str, Any], endpoint: str | None, status: int | str) -> str:
    """Returns the name of the envelope of a system's errors with a status, by `errors` of its `x-dialect`.

    An envelope of the endpoint takes precedence over one of the status, and that over the general one.
    """
    own: dict[str, str] = errors.get("envelopes_at", {}).get(endpoint, {})
    envelope: str = own.get(str(status)) or errors.get("envelopes", {}).get(str(status), errors["envelope"])
    return envelope
