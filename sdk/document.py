"""The document that a client is made from, and its operations."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

METHODS = ("get", "put", "post", "delete", "patch")


@dataclass(frozen=True, slots=True)
class Parameter:
    """`where` is `path` or `query`; `schema` is plain, without references."""

    name: str
    where: str
    required: bool
    schema: dict[str, Any]
    description: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`body`, `answer` and `event` are names of components. A stream is over with its `terminator` or with an event
    whose type is one of `finals`; where neither is known, anyhow. `switch` says where streaming is asked for: `body` or
    `query`, None where there are no streams. `root` is for paths at the server's root instead of below its base."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: tuple[Parameter, ...]
    body: str | None
    answer: str | None
    event: str | None
    terminator: str | None
    finals: tuple[str, ...]
    switch: str | None
    root: bool

    @property
    def path_parameters(self) -> tuple[Parameter, ...]:
        return tuple(each for each in self.parameters if each.where == "path")

    @property
    def query(self) -> tuple[Parameter, ...]:
        """Without the one that asks for a stream: that is a method of its own."""
        named = {"stream", "starting_after", "include_obfuscation"} if self.switch == "query" else set()
        return tuple(each for each in self.parameters if each.where == "query" and each.name not in named)

    @property
    def resumes(self) -> bool:
        """Whether a stream may go on behind an event that the caller has, which may be the last."""
        return any(each.name == "starting_after" for each in self.parameters)

    @property
    def stream_query(self) -> tuple[Parameter, ...]:
        return tuple(each for each in self.parameters if each.where == "query" and each.name != "stream")


def load(dialect: str | None) -> dict[str, Any]:
    """The OpenAPI 3.1 document of a system; without one, that of this project's server."""
    name = f"dialects/{dialect}.json" if dialect else "openapi-3.1.json"
    document: dict[str, Any] = json.loads(files("specvino.generated").joinpath(*name.split("/")).read_text("utf-8"))
    return document


def operations(document: dict[str, Any]) -> Iterator[Operation]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield _operation(document, path, method, item)


def without_switches(document: dict[str, Any]) -> dict[str, Any]:
    """The document without the fields of bodies that ask for streams: those are methods of their own."""
    changed = copy.deepcopy(document)
    for operation in operations(document):
        if operation.switch == "body" and operation.body:
            del changed["components"]["schemas"][operation.body]["properties"]["stream"]
    return changed


def resolved(document: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """What a node stands for, its references followed."""
    while "$ref" in node:
        target: Any = document
        for name in node["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        node = target
    return node


def _operation(document: dict[str, Any], path: str, method: str, item: dict[str, Any]) -> Operation:
    operation = item[method]
    content = resolved(document, operation["responses"]["200"])["content"]
    body = _component(operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema"))
    parameters = tuple(
        Parameter(
            each["name"],
            each["in"],
            each.get("required", False),
            resolved(document, each["schema"]),
            each.get("description", ""),
        )
        for each in (*item.get("parameters", ()), *operation.get("parameters", ()))
    )
    event, terminator = _stream(document, content.get("text/event-stream"))
    switch = None
    if event:
        switch = "query" if any(each.name == "stream" for each in parameters) else "body"
    return Operation(
        id=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        parameters=parameters,
        body=body,
        answer=_component(content.get("application/json", {}).get("schema")),
        event=event,
        terminator=terminator,
        finals=_finals(operation.get("x-stream")),
        switch=switch,
        root="servers" in operation,
    )


def _stream(document: dict[str, Any], media: dict[str, Any] | None) -> tuple[str | None, str | None]:
    """The component that describes an event, and the text that ends the stream."""
    if media is None:
        return None, None
    data = resolved(document, media["x-itemSchema"])["properties"]["data"]
    branches = data.get("anyOf", [data])
    event = next(each["contentSchema"] for each in branches if "contentSchema" in each)
    terminator = next((each["const"] for each in branches if "const" in each), None)
    return _without_error(document, event), terminator


def _finals(table: dict[str, Any] | None) -> tuple[str, ...]:
    """The types of the events that end a stream, where its table tells events by their `type`."""
    if table is None or table["classify"] != "type":
        return ()
    (outermost,) = (machine for machine in table["machines"].values() if "in" not in machine)
    return tuple(name for part in ("end", "fail", "abort") for name in outermost.get(part, ()))


def _without_error(document: dict[str, Any], schema: dict[str, Any]) -> str | None:
    """Returns the component of a stream's events; of a union with ErrorResponse, which clients raise, the other."""
    found = resolved(document, schema)
    left = [branch for branch in found.get("anyOf", ()) if not branch.get("$ref", "").endswith("/ErrorResponse")]
    return _component(left[0] if len(left) == 1 else schema)


def _component(schema: dict[str, Any] | None) -> str | None:
    return schema["$ref"].rsplit("/", 1)[-1] if schema and "$ref" in schema else None
