"""The fields of an endpoint, which the support tables refer to.

A field is named by its endpoint, the part of the exchange and its path: `chat.temperature` for requests,
`chat.response.usage` and `chat.stream.choices[].delta` for answers. `[]` stands for the elements of a list. A property
that union branches share, such as a message's content, is one field. What an event and the unary answer have in common
is described with the answer: `chat.stream.usage` is a field, `chat.stream.usage.total_tokens` isn't.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from specvino.document.operations import JSON, Schema, operations
from specvino.document.pointers import component_name, referred
from specvino.document.walk import closure, references

PARTS = ("request", "response", "stream")


def field_name(endpoint: str, part: str, path: str) -> str:
    """Returns the name of a field."""
    return f"{endpoint}.{path}" if part == "request" else f"{endpoint}.{part}.{path}"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an endpoint, with the properties of the document that describe it."""

    endpoint: str
    part: str
    path: str
    owners: tuple[Schema, ...]
    """The property as written, once for each union branch that has it."""
    objects: tuple[Schema, ...] = ()
    """The object that has the property, for each of them."""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.endpoint, self.part, self.path

    @property
    def name(self) -> str:
        return field_name(self.endpoint, self.part, self.path)

    @property
    def origins(self) -> set[Any]:
        """The values of x-origin; more than one where union branches differ."""
        return {owner.get("x-origin") for owner in self.owners}


def fields(document: dict[str, Any]) -> list[Field]:
    """Returns all fields, in the order of the document; the error envelope is the endpoint `error`."""
    result = []
    for root in roots(document):
        paths: dict[str, list[tuple[Schema, Schema]]] = {}
        _collect(document, root, root.schema, "", paths, ())
        for path, met in paths.items():
            owners, objects = zip(*met, strict=True)
            result.append(Field(root.endpoint, root.part, path, owners, objects))
    return result


def parts(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the parts of the exchange that each endpoint has, as (endpoint, part)."""
    return [(root.endpoint, root.part) for root in roots(document)]


def around(path: str) -> Iterator[str]:
    """Yields the paths of the fields around one, the nearest first: `a[].b` and `a` for `a[].b.c`."""
    while "." in path:
        path = path.rpartition(".")[0].rstrip("[]")
        yield path


@dataclass(frozen=True, slots=True)
class Root:
    """A part of the exchange with its schema. The fields of the components `elsewhere` are those of another part."""

    endpoint: str
    part: str
    schema: Schema
    elsewhere: Collection[str]

    def leaves_out(self, name: str, path: str, inside: Collection[str]) -> bool:
        """Returns whether the fields of a component, at a path `inside` components, don't count as fields of this part.

        A schema inside itself has the same fields again; errors are an endpoint of their own.
        """
        return name in inside or name in self.elsewhere or (name == "ErrorResponse" and path == "" and bool(inside))


def roots(document: dict[str, Any]) -> Iterator[Root]:
    """Yields each part. What several operations answer with is described with the first one."""
    described: set[str] = set()
    for operation in operations(document):
        endpoint = operation.endpoint
        if operation.body:
            yield Root(endpoint, "request", operation.body, set())
        content = operation.content()
        unary: set[str] = set()
        if JSON in content:
            schema = content[JSON]["schema"]
            yield Root(endpoint, "response", schema, set(described))
            unary = closure(document, *references(schema))
            described.update(references(schema))
        if event := operation.event:
            yield Root(endpoint, "stream", event, unary | described)
            described.update(references(event))
    if "ErrorResponse" in document["components"]["schemas"]:  # a system's errors may have another form
        yield Root("error", "response", {"$ref": "#/components/schemas/ErrorResponse"}, set())


def _collect(
    document: dict[str, Any],
    root: Root,
    schema: Schema,
    path: str,
    paths: dict[str, list[tuple[Schema, Schema]]],
    inside: tuple[str, ...],
) -> None:
    if "$ref" in schema:
        name = component_name(schema["$ref"])
        if not root.leaves_out(name, path, inside):
            _collect(document, root, referred(document, schema["$ref"]), path, paths, (*inside, name))
        return
    for name, child in schema.get("properties", {}).items():
        child_path = f"{path}.{name}" if path else name
        paths.setdefault(child_path, []).append((child, schema))
        _collect(document, root, child, child_path, paths, inside)
    if isinstance(schema.get("items"), dict):
        _collect(document, root, schema["items"], f"{path}[]", paths, inside)
    for keyword in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(keyword, ()):
            _collect(document, root, branch, path, paths, inside)
