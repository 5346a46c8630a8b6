"""The fields of an endpoint: what the support tables are about.

A field is named by its endpoint, the part of the exchange and its path: `chat.temperature` for requests,
`chat.response.usage` and `chat.stream.choices[].delta` for answers. `[]` stands for the elements of a list. Where
union branches share a property (a message's content) it is one field. What an event has in common with the unary
answer is described there: `chat.stream.usage` is a field, `chat.stream.usage.total_tokens` is none.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from specvino.document.operations import JSON, Schema, operations
from specvino.document.pointers import component_name, referred
from specvino.document.walk import closure, references

PARTS = ("request", "response", "stream")


@dataclass(frozen=True, slots=True)
class Field:
    """Describes a field of an endpoint, with the properties of the document that describe it."""

    endpoint: str
    part: str
    path: str
    owners: tuple[Schema, ...]
    """The property as written, once for each union branch that has it."""

    @property
    def name(self) -> str:
        return f"{self.endpoint}.{self.path}" if self.part == "request" else f"{self.endpoint}.{self.part}.{self.path}"

    @property
    def origins(self) -> set[Any]:
        """Returns who defined the field; more than one where union branches differ."""
        return {owner.get("x-origin") for owner in self.owners}


def fields(document: dict[str, Any]) -> list[Field]:
    """Returns all fields, in the order of the document; the error envelope is the endpoint `error`."""
    found = []
    for endpoint, part, schema, elsewhere in _roots(document):
        paths: dict[str, list[Schema]] = {}
        _collect(document, schema, "", paths, (), elsewhere)
        found += [Field(endpoint, part, path, tuple(owners)) for path, owners in paths.items()]
    return found


def parts(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the parts of the exchange that each endpoint has, as (endpoint, part)."""
    return [(endpoint, part) for endpoint, part, _, _ in _roots(document)]


def around(path: str) -> Iterator[str]:
    """Yields the paths of the fields around one, the nearest first: `a[].b` and `a` for `a[].b.c`."""
    while "." in path:
        path = path.rpartition(".")[0].rstrip("[]")
        yield path


def _roots(document: dict[str, Any]) -> Iterator[tuple[str, str, Schema, set[str]]]:
    """Yields each part's endpoint, name and schema, with the components whose fields another part has.

    What several operations answer with is described at the first one.
    """
    described: set[str] = set()
    for operation in operations(document):
        endpoint = operation.endpoint
        if operation.body:
            yield endpoint, "request", operation.body, set()
        content = operation.content()
        unary: set[str] = set()
        if JSON in content:
            schema = content[JSON]["schema"]
            yield endpoint, "response", schema, set(described)
            unary = closure(document, *references(schema))
            described.update(references(schema))
        if event := operation.event:
            yield endpoint, "stream", event, unary | described
            described.update(references(event))
    if "ErrorResponse" in document["components"]["schemas"]:  # a system's errors may have another form
        yield "error", "response", {"$ref": "#/components/schemas/ErrorResponse"}, set()


def _collect(
    document: dict[str, Any],
    schema: Schema,
    path: str,
    paths: dict[str, list[Schema]],
    inside: tuple[str, ...],
    elsewhere: Collection[str],
) -> None:
    if "$ref" in schema:
        name = component_name(schema["$ref"])
        if name in inside or name in elsewhere or (name == "ErrorResponse" and path == "" and inside):
            return  # a schema inside itself has the same fields again; errors are an endpoint of their own
        _collect(document, referred(document, schema["$ref"]), path, paths, (*inside, name), elsewhere)
        return
    for name, child in schema.get("properties", {}).items():
        child_path = f"{path}.{name}" if path else name
        paths.setdefault(child_path, []).append(child)
        _collect(document, child, child_path, paths, inside, elsewhere)
    if isinstance(schema.get("items"), dict):
        _collect(document, schema["items"], f"{path}[]", paths, inside, elsewhere)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            _collect(document, branch, path, paths, inside, elsewhere)
