"""What the portal's pages are made from: the documents and their fields."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from specvino.portal.reference import SYSTEMS

__all__ = ["ENDPOINTS", "SYSTEMS", "Field", "Operation", "Source", "Support"]

ENDPOINTS = {
    "chat": "Chat completions",
    "completions": "Completions",
    "responses": "Responses",
    "response": "A stored response",
    "response_deletion": "Deleting a response",
    "response_cancel": "Cancelling a response",
    "response_input_items": "Input items of a response",
    "tokenize": "Tokenize",
    "models": "Models",
    "model": "One model",
    "health": "Health",
    "version": "Version",
    "openapi": "The document",
    "error": "Errors",
}


@dataclass(frozen=True, slots=True)
class Support:
    """How one system supports a field: `level` is full, partial, ignored, refused, absent or unknown."""

    level: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """`name` is `chat.stop`; `part` request, response or stream; `path` what stands in the JSON (`stop`). `fate` is
    what this server does: honoured, noted, unsupported, or for answers when it is sent."""

    name: str
    endpoint: str
    part: str
    path: str
    schema: Mapping[str, Any]
    origin: str
    fate: str
    support: Mapping[str, Support]

    @property
    def description(self) -> str:
        said = [self.schema.get("description", ""), self.schema.get("x-here", "")]
        return " ".join(filter(None, said))


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    endpoint: str
    method: str
    path: str
    definition: Mapping[str, Any]


class Source:
    """The whole document and those of the systems."""

    @cached_property
    def document(self) -> dict[str, Any]:
        return _load("openapi.json")

    def dialect(self, system: str) -> dict[str, Any]:
        """The OpenAPI 3.1 document of a system."""
        return _load(f"dialects/{system}.json")

    @cached_property
    def operations(self) -> list[Operation]:
        return [
            Operation(each["operationId"], each["x-endpoint"], method.upper(), path, each)
            for path, item in self.document["paths"].items()
            for method, each in item.items()
            if isinstance(each, dict) and "operationId" in each
        ]

    @cached_property
    def fields(self) -> list[Field]:
        """Every field that has a level of its own, in the document's order; that of several branches once."""
        found: dict[str, Field] = {}
        for node in _nodes(self.document):
            for name, levels in node.get("x-support", {}).items():
                if name not in found:
                    found[name] = _field(name, node, levels)
        order = {endpoint: number for number, endpoint in enumerate(ENDPOINTS)}
        parts = {"request": 0, "response": 1, "stream": 2}
        return sorted(found.values(), key=lambda each: (order[each.endpoint], parts[each.part]))


def _load(name: str) -> dict[str, Any]:
    path = files("specvino.generated").joinpath(*name.split("/"))
    loaded: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return loaded


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _nodes(each)
    elif isinstance(value, list):
        for each in value:
            yield from _nodes(each)


def _field(name: str, node: Mapping[str, Any], levels: Mapping[str, Any]) -> Field:
    endpoint, _, rest = name.partition(".")
    part = rest.split(".", 1)[0] if rest.split(".", 1)[0] in ("response", "stream") else "request"
    path = rest if part == "request" else rest.removeprefix(part).removeprefix(".")
    support = {
        system: Support(said) if isinstance(said, str) else Support(said["level"], said.get("note", ""))
        for system, said in levels.items()
    }
    # A query's parameter is described beside its schema.
    schema = node.get("schema", {}) | {key: node[key] for key in ("description", "x-here") if key in node}
    fate = node.get("x-fate") or node.get("x-emit", "")
    return Field(name, endpoint, part, path, schema if "schema" in node else node, node.get("x-origin", ""), fate, support)
