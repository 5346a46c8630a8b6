"""What a server is judged by: the document of one system, with its answers, events, errors and levels of support."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import Any, Literal

from specvino.conformance.document.shape import Shape
from specvino.generated.errors import ERRORS, ErrorCode
from specvino.generated.streams import STREAMS, Consecutive, Constant, Law, Machine, Stream

WHOLE = "specvino"
"""The document itself, with every field that this project supports."""

NAMES = ("openai", "ovms", "vllm", "mlc-llm", "fastdeploy", WHOLE)

Kind = Literal["json", "validation", "key", "unknown_model", "too_large", "media_type", "unknown_route", "method"]
"""What a request is refused for."""

CODES: dict[Kind, ErrorCode] = {
    "json": ErrorCode.INVALID_JSON,
    "validation": ErrorCode.INVALID_VALUE,
    "key": ErrorCode.INVALID_API_KEY,
    "unknown_model": ErrorCode.MODEL_NOT_FOUND,
    "too_large": ErrorCode.REQUEST_TOO_LARGE,
    "media_type": ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    "unknown_route": ErrorCode.NOT_FOUND,
    "method": ErrorCode.METHOD_NOT_ALLOWED,
}

LEFT_OUT = ("ignored", "refused", "absent", "unknown")
"""Levels at which nothing can be asked of a system."""


@dataclass(frozen=True, slots=True)
class Operation:
    path: str
    method: str
    definition: Mapping[str, Any]


class Dialect:
    """The document of the system `name`, one of NAMES. Raises ValueError for others."""

    def __init__(self, name: str) -> None:
        if name not in NAMES:
            raise ValueError(f"there is no dialect {name!r}; there are {', '.join(NAMES)}")
        self.name = name
        self.document = whole() if name == WHOLE else _generated(f"dialects/{name}.json")
        self._head: dict[str, Any] = self.document.get("x-dialect", {})
        self._shapes: dict[str, Shape] = {}
        self.operations = {each.definition["x-endpoint"]: each for each in _operations(self.document)}
        """By endpoint: chat, completions, responses, response, models, …"""

    @cached_property
    def digest(self) -> str:
        """Names this very document in a report."""
        import hashlib

        return hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:16]

    def level(self, pointer: str, endpoint: str) -> str:
        """How the system supports what a JSON pointer into the whole document leads to, as a field of `endpoint`:
        `full` for what has no level of its own, `absent` for an operation that the system hasn't. Raises KeyError for
        a pointer that leads nowhere."""
        node = at_pointer(whole(), pointer)
        if not isinstance(node, Mapping) or node.get("x-endpoint") in self.operations:
            return "full"
        if "x-endpoint" in node:
            return "absent"
        if self.name == WHOLE:
            return "ignored" if node.get("x-handling") == "unsupported" else "full"
        for field, levels in node.get("x-support", {}).items():
            if field.split(".", 1)[0] == endpoint:
                said = levels[self.name]
                return str(said if isinstance(said, str) else said["level"])
        return "full"

    def statuses(self, kind: Kind, endpoint: str) -> tuple[int, ...] | None:
        """The statuses with which the system refuses such a request; None where nobody knows."""
        if self.name == WHOLE:
            return (ERRORS[CODES[kind]].status,)
        said = self._head["errors"]
        found = said["statuses"] | said.get("at", {}).get(endpoint, {})
        status = found.get(kind)
        if isinstance(status, int):
            return (status,)
        return tuple(status) if isinstance(status, list) else None

    def answer(self, endpoint: str, status: int, media: str) -> Shape | None:
        """What an answer of this status and media type must be like; None where the document has no such answer."""
        operation = self.operations[endpoint]
        responses = operation.definition["responses"]
        found = resolved(self.document, responses.get(str(status), {}))
        content = found.get("content", {}).get(media)
        return None if content is None else self.shape(content.get("schema", {}))

    def error(self, endpoint: str | None, status: int) -> Shape | None:
        """The form of errors: the one documented for the status, else the one that most errors have."""
        for name in (endpoint, *self.operations):
            if name in self.operations:
                for known in (str(status), "400"):
                    found = resolved(self.document, self.operations[name].definition["responses"].get(known, {}))
                    if "application/json" in found.get("content", {}):
                        return self.shape(found["content"]["application/json"]["schema"])
        return None

    def event(self, endpoint: str) -> Shape | None:
        """What the data of an event must be like as JSON; None where the endpoint has no streams."""
        operation = self.operations[endpoint]
        media = resolved(self.document, operation.definition["responses"]["200"])["content"].get("text/event-stream")
        if media is None:
            return None
        item = resolved(self.document, media.get("itemSchema") or media["x-itemSchema"])
        data = item["properties"]["data"]
        branch = next(each for each in data.get("anyOf", [data]) if "contentSchema" in each)
        return self.shape(branch["contentSchema"])

    def documented(self, endpoint: str) -> frozenset[int]:
        """The statuses that the document lists."""
        return frozenset(int(status) for status in self.operations[endpoint].definition["responses"])

    def stream(self, endpoint: str) -> Stream | None:
        """The table of the endpoint's streams; None where the system's streams break it."""
        found = self.operations[endpoint].definition.get("x-stream")
        if found is None:
            return None
        table = STREAMS[endpoint]
        laws = {law["law"]: law for law in found["laws"] if isinstance(law, dict)} | {
            law: {} for law in found["laws"] if isinstance(law, str)
        }
        return replace(
            table,
            framing=found["framing"],
            terminator=found["terminator"],
            machines=tuple(_narrowed(machine, found["machines"][machine.name]) for machine in table.machines),
            laws=tuple(_adapted(law, laws[_name(law)]) for law in table.laws if _name(law) in laws),
            silent=found.get("silent", False),
        )

    @cached_property
    def unjudged(self) -> dict[str, str]:
        """What of the order of streams can't be judged, by names like those of rules, with the reason."""
        found = {}
        for endpoint, said in self._head.get("stream", {}).items():
            if "order" in said and "breaks" not in said:
                found[f"{endpoint}/rules/stream-order"] = f"{self.name}: {said['order']}"
            for word in said.get("breaks", ()):
                found[f"{endpoint}/rules/stream-order/{word}"] = f"{self.name}: {said['order']}"
        return found

    def terminator(self, endpoint: str) -> str | None:
        """The text that ends the endpoint's streams, which is no event."""
        if self.name == WHOLE:
            return STREAMS[endpoint].terminator
        said: str | None = self._head["stream"][endpoint]["terminator"]
        return said

    @property
    def unknown_fields(self) -> str:
        """`ignored` or `refused`."""
        return "ignored" if self.name == WHOLE else str(self._head["unknown_fields"])

    @property
    def names_fields(self) -> bool:
        """Whether a refusal says in `param` which field is wrong: others leave it null, or have no such place."""
        return self.name in ("openai", WHOLE)

    def shape(self, schema: Mapping[str, Any]) -> Shape:
        """Of a schema of the document. Each is compiled once."""
        key = json.dumps(schema)
        if key not in self._shapes:
            self._shapes[key] = Shape(schema, self.document)
        return self._shapes[key]


def whole() -> dict[str, Any]:
    """The OpenAPI 3.2 document."""
    return _generated("openapi.json")


def lowered() -> dict[str, Any]:
    """The same as OpenAPI 3.1, for what reads nothing newer."""
    return _generated("openapi-3.1.json")


def _narrowed(machine: Machine, said: Mapping[str, Any]) -> Machine:
    body, end = tuple(said.get("body", ())), tuple(said.get("end", ()))
    return replace(machine, open=said.get("open"), body=body, end=end)


def _adapted(law: Law, said: Mapping[str, Any]) -> Law:
    if isinstance(law, Consecutive):
        return replace(law, start=said["from"])
    return replace(law, fields=tuple(said["fields"])) if isinstance(law, Constant) else law


def _name(law: Law) -> str:
    """As the document has it: `one fact` of OneFact."""
    return re.sub("(?<!^)([A-Z])", r" \1", type(law).__name__).lower()


def at_pointer(document: Any, pointer: str) -> Any:
    """What a JSON pointer leads to. Raises KeyError."""
    node = document
    for part in pointer.removeprefix("/").split("/") if pointer else ():
        name = part.replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(name)] if isinstance(node, list) else node[name]
        except (LookupError, TypeError, ValueError):
            raise KeyError(pointer) from None
    return node


def resolved(document: Mapping[str, Any], node: Any) -> Any:
    """What a node stands for, its references followed."""
    while isinstance(node, Mapping) and "$ref" in node:
        node = at_pointer(document, node["$ref"].removeprefix("#"))
    return node


_LOADED: dict[str, dict[str, Any]] = {}


def _generated(name: str) -> dict[str, Any]:
    if name not in _LOADED:
        _LOADED[name] = json.loads(files("specvino.generated").joinpath(*name.split("/")).read_text("utf-8"))
    return _LOADED[name]


def _operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if isinstance(operation, Mapping) and "operationId" in operation:
                yield Operation(path, method.upper(), operation)
