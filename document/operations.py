"""The operations of a document, and where a server has them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.document.pointers import component_name, resolved

Schema = dict[str, Any]
"""A JSON Schema of a document."""

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

JSON = "application/json"
EVENTS = "text/event-stream"


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
        """The name under which fields, cases and pages speak of it, such as `chat`."""
        return str(self.definition["x-endpoint"])

    @property
    def is_also_at_root(self) -> bool:
        """Whether this server has its path at the root too, beside those below the base paths."""
        return bool(self.definition.get("x-served-at-root"))

    @property
    def is_only_at_root(self) -> bool:
        """Whether a system has its path at the root instead of below a base path: the operation has `servers` then."""
        return "servers" in self.definition

    @property
    def place(self) -> str:
        """How messages name it: `POST /chat/completions`."""
        return f"{self.method} {self.path}"

    @property
    def parameters(self) -> list[dict[str, Any]]:
        """Those of the path item, then its own."""
        both = (*self.item.get("parameters", ()), *self.definition.get("parameters", ()))
        return [resolved(self.document, each) for each in both]

    def parameters_in(self, place: str) -> list[dict[str, Any]]:
        """Returns the parameters that are in `path`, in `query` or in a header."""
        return [each for each in self.parameters if each["in"] == place]

    @property
    def body(self) -> Schema | None:
        """The schema of the JSON body; None where it takes none."""
        content = resolved(self.document, self.definition.get("requestBody", {})).get("content", {})
        schema: Schema | None = content.get(JSON, {}).get("schema")
        return schema

    @property
    def body_component(self) -> str | None:
        """The name of the component that is the JSON body."""
        return name_of(self.body)

    def content(self, status: str = "200") -> dict[str, Any]:
        """Returns the media types of the answer with that status, none where the document has no such answer."""
        answer = resolved(self.document, self.definition["responses"].get(status, {}))
        found: dict[str, Any] = answer.get("content", {})
        return found

    @property
    def event(self) -> Schema | None:
        """The schema of one decoded event of its stream; None where it has no stream."""
        media = self.content().get(EVENTS)
        return None if media is None else event_of(self.document, media)


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    """Yields every operation, in the order of the paths and, of one path, of the methods as the document has them."""
    for path, item in document["paths"].items():
        for method, definition in list(item.items()):
            if method in METHODS:
                yield Operation(path, method.upper(), item, definition, document)


def by_endpoint(document: Mapping[str, Any]) -> dict[str, Operation]:
    """Returns the operations by the name of their endpoint."""
    return {each.endpoint: each for each in operations(document)}


def base_paths(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the paths below which a server has the operations, in the order of the document's `servers`."""
    return tuple(each["url"] for each in document["servers"])


def event_data(document: Mapping[str, Any], media: Mapping[str, Any]) -> list[Schema]:
    """Returns what the data of an event may be, by the media type object of a stream, in any version of OpenAPI."""
    item = resolved(document, media.get("itemSchema") or media["x-itemSchema"])
    data = item["properties"]["data"]
    found: list[Schema] = data.get("anyOf", [data])
    return found


def event_of(document: Mapping[str, Any], media: Mapping[str, Any]) -> Schema:
    """Returns the schema of a decoded event, by the media type object of a stream."""
    found: Schema = next(each["contentSchema"] for each in event_data(document, media) if "contentSchema" in each)
    return found


def name_of(schema: Mapping[str, Any] | None) -> str | None:
    """Returns the name of the component that a schema refers to; None where it is no reference."""
    return component_name(schema["$ref"]) if schema and "$ref" in schema else None


def envelope_of(errors: dict[str, Any], endpoint: str | None, status: int | str) -> str:
    """Returns the name of the envelope of a system's errors with a status, by `errors` of its `x-dialect`: that of the
    endpoint's own errors, else that of the status, else that of all errors."""
    own: dict[str, str] = errors.get("envelopes_at", {}).get(endpoint, {})
    envelope: str = own.get(str(status)) or errors.get("envelopes", {}).get(str(status), errors["envelope"])
    return envelope
