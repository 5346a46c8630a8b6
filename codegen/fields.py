"""The fields of an endpoint: what the support tables are about.

A field is named by its endpoint, the part of the exchange and its path: `chat.temperature` for requests,
`chat.response.usage` and `chat.stream.choices[].delta` for answers. `[]` stands for the elements of a list. Where
union branches share a property (a message's content) it is one field.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specvino.codegen.schemas import Schema, component_name, operations, resolve

PARTS = ("request", "response", "stream")


@dataclass(frozen=True, slots=True)
class Field:
    endpoint: str
    part: str
    path: str
    owners: tuple[Schema, ...]
    """The property as written, once for each union branch that has it."""

    @property
    def name(self) -> str:
        return f"{self.endpoint}.{self.path}" if self.part == "request" else f"{self.endpoint}.{self.part}.{self.path}"


def fields(document: dict[str, Any]) -> list[Field]:
    """All fields, in the order of the document; the error envelope is the endpoint `error`."""
    roots = list(_roots(document))
    roots.append(("error", "response", {"$ref": "#/components/schemas/ErrorResponse"}))
    found = []
    for endpoint, part, schema in roots:
        paths: dict[str, list[Schema]] = {}
        _collect(document, schema, "", paths, ())
        found += [Field(endpoint, part, path, tuple(owners)) for path, owners in paths.items()]
    return found


def _roots(document: dict[str, Any]) -> Iterator[tuple[str, str, Schema]]:
    for _, _, _, operation in operations(document):
        endpoint = operation["x-endpoint"]
        if "requestBody" in operation:
            yield endpoint, "request", operation["requestBody"]["content"]["application/json"]["schema"]
        content = operation["responses"]["200"]["content"]
        if "application/json" in content:
            yield endpoint, "response", content["application/json"]["schema"]
        if "text/event-stream" in content:
            yield endpoint, "stream", stream_event(document, content["text/event-stream"])


def stream_event(document: dict[str, Any], media: dict[str, Any]) -> Schema:
    """The schema of one decoded event of a stream."""
    item = media["itemSchema"]
    data = (resolve(document, item["$ref"]) if "$ref" in item else item)["properties"]["data"]
    return next(branch["contentSchema"] for branch in data.get("anyOf", [data]) if "contentSchema" in branch)


def _collect(
    document: dict[str, Any], schema: Schema, path: str, paths: dict[str, list[Schema]], inside: tuple[str, ...]
) -> None:
    if "$ref" in schema:
        name = component_name(schema["$ref"])
        if name in inside or (name == "ErrorResponse" and path == "" and inside):
            return  # a schema inside itself has the same fields again; errors are an endpoint of their own
        _collect(document, resolve(document, schema["$ref"]), path, paths, (*inside, name))
        return
    for name, child in schema.get("properties", {}).items():
        child_path = f"{path}.{name}" if path else name
        paths.setdefault(child_path, []).append(child)
        _collect(document, child, child_path, paths, inside)
    if isinstance(schema.get("items"), dict):
        _collect(document, schema["items"], f"{path}[]", paths, inside)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            _collect(document, branch, path, paths, inside)
