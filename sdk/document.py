"""The document that a client is generated from, and its operations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from specvino.document.loading import dialect_file, load, lowered
from specvino.document.operations import EVENTS, JSON, LINES, Operation, Schema, event_data, name_of, operations
from specvino.document.pointers import component_name, resolved
from specvino.document.transforms import copied
from specvino.document.walk import reached, subschemas


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method. `where` is `path` or `query`; `schema` is plain, without references."""

    name: str
    where: str
    required: bool
    schema: dict[str, Any]
    description: str


@dataclass(frozen=True, slots=True)
class Socket:
    """The WebSocket of an operation. A client's messages, of the type `message`, have the fields of the body but
    `without`, the constant `type`, and the `fields` of the component `request`, with their descriptions."""

    message: str
    request: str
    type: str
    fields: Mapping[str, str]
    without: tuple[str, ...]

    @property
    def session(self) -> str:
        """The class of a connection: `CreateResponseSession`."""
        return self.message.removesuffix("Message") + "Session"


@dataclass(frozen=True, slots=True)
class Items:
    """The items of a list that a GET answers with. `kind` is the component of one, None where it has none; `paged` is
    whether a parameter names the item after which a page begins."""

    kind: str | None
    paged: bool


# What the paths of conversations end with, in all APIs of OpenAI's and Anthropic's kind.
CONVERSATIONS = {"/chat/completions": "chat", "/responses": "responses", "/messages": "messages"}


@dataclass(frozen=True, slots=True)
class ClientMethod:
    """A method of the client.

    `body`, `answer` and `event` are names of components. A stream ends with its `terminator`, with an event whose type
    is one of `finals`, or with one that has the field `final_field`; without any, when the connection closes. `lines`
    is for streams of lines instead of server-sent events. `switch` is where streaming is requested, `body` or `query`;
    None without streams. `streams_by_default`: a body without it requests a stream. `socket` is None without a
    WebSocket. `refusals` are sentences about valid bodies that a server refuses for their combination of fields, or
    because it doesn't support them. `root` is for paths at the server's root instead of below its base. `items` are
    those of a list. `conversation` is the form of messages and tools: `chat`, `responses` or `messages`; None for other
    operations.
    """

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
    final_field: str | None
    lines: bool
    switch: str | None
    streams_by_default: bool
    socket: Socket | None
    refusals: tuple[str, ...]
    root: bool
    items: Items | None
    conversation: str | None

    @property
    def path_parameters(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.where == "path")

    @property
    def query(self) -> tuple[Parameter, ...]:
        """The query parameters without the one that requests a stream, which is a separate method."""
        named = {"stream", "starting_after", "include_obfuscation"} if self.switch == "query" else set()
        return tuple(
            parameter for parameter in self.parameters if parameter.where == "query" and parameter.name not in named
        )

    @property
    def resumes(self) -> bool:
        """Whether a stream can resume after an event that the caller has, even the last."""
        return any(parameter.name == "starting_after" for parameter in self.parameters)

    @property
    def stream_query(self) -> tuple[Parameter, ...]:
        return tuple(
            parameter for parameter in self.parameters if parameter.where == "query" and parameter.name != "stream"
        )


def document_of(dialect: str | None) -> dict[str, Any]:
    """Returns the OpenAPI 3.1 document of a system; without one, that of this project's server.

    Requests are without the fields that the system refuses, whose only value is null or that have none: there is
    nothing to send. Conditions are as they are.
    """
    if dialect is None:
        return lowered()
    document = copied(load(dialect_file(dialect)))
    sent = reached(document, [operation.definition.get("requestBody", {}) for operation in operations(document)])
    for name in sent:
        for schema in _unconditional(document["components"]["schemas"][name]):
            if "properties" in schema:
                schema["properties"] = {
                    field: child
                    for field, child in schema["properties"].items()
                    if child.get("type") != "null" and child.get("not") != {}
                }
    return document


def _unconditional(schema: Schema) -> Iterator[Schema]:
    """Yields a schema and those inside it, but not its conditions, whose properties describe when they hold."""
    yield schema
    for step, child in subschemas(schema):
        if step.partition("/")[0] not in ("allOf", "if", "then", "else", "not"):
            yield from _unconditional(child)


def methods(document: dict[str, Any]) -> Iterator[ClientMethod]:
    """Yields the methods of a client, one for each operation."""
    for operation in operations(document):
        yield _method(operation)


def for_requests(document: dict[str, Any]) -> dict[str, Any]:
    """Returns the document of what is sent: bodies without the fields that request streams, which are separate methods,
    and, like another media type of the body, messages on a WebSocket with all their fields. Conditions aren't in it:
    types can't have them, and generators take them for fields (datamodel-code-generator 0.89 for a second `messages`).
    """
    changed = copied(document)
    schemas = changed["components"]["schemas"]
    for schema in schemas.values():
        for part in _unconditional(schema):
            if "properties" in part and "allOf" in part:
                rules = (_without_conditions(rule, part["properties"]) for rule in part["allOf"])
                part["allOf"] = [rule for rule in rules if rule]
                if not part["allOf"]:
                    del part["allOf"]  # it must have a part, by JSON Schema
    for operation in operations(changed):
        method = _method(operation)
        if method.switch == "body" and method.body:
            del schemas[method.body]["properties"]["stream"]
        if method.socket and method.body:
            schemas[method.socket.message] = _message(operation, method.socket)
            content = operation.definition["requestBody"]["content"]
            content["a message"] = {"schema": {"$ref": f"#/components/schemas/{method.socket.message}"}}
    return changed


def _without_conditions(rule: Schema, fields: Mapping[str, Any]) -> Schema:
    """Returns what a part of `allOf` adds to these fields: empty if that is nothing."""
    if "$ref" in rule:
        return rule
    added = {name: child for name, child in rule.get("properties", {}).items() if name not in fields}
    return {"properties": added} if added else {}


def _message(operation: Operation, socket: Socket) -> dict[str, Any]:
    body = resolved(operation.document, operation.body or {})
    own = resolved(operation.document, operation.definition["x-websocket"]["request"])["properties"]
    fields = {name: schema for name, schema in body["properties"].items() if name not in socket.without}
    return {**body, "title": socket.message, "properties": fields | {name: own[name] for name in socket.fields}}


def _socket(operation: Operation) -> Socket | None:
    definition = operation.definition.get("x-websocket")
    if definition is None or operation.body_component is None:
        return None
    body = resolved(operation.document, operation.body or {})["properties"]
    own = resolved(operation.document, definition["request"])["properties"]
    (type,) = own["type"]["enum"]
    return Socket(
        f"{operation.body_component.removesuffix('Request')}Message",
        component_name(definition["request"]["$ref"]),
        type,
        {name: schema["description"] for name, schema in own.items() if name not in body and name != "type"},
        # By a connection they are decided already.
        tuple(name for name in own if name in body),
    )


def _method(operation: Operation) -> ClientMethod:
    definition, content = operation.definition, operation.content()
    parameters = tuple(
        Parameter(
            parameter["name"],
            parameter["in"],
            parameter.get("required", False),
            resolved(operation.document, parameter["schema"]),
            parameter.get("description", ""),
        )
        for parameter in operation.parameters
    )
    event = _without_error(operation.document, operation.event) if operation.event else None
    switch = None
    if event:
        switch = "query" if any(parameter.name == "stream" for parameter in parameters) else "body"
    return ClientMethod(
        id=operation.id,
        method=operation.method,
        path=operation.path,
        summary=definition["summary"],
        description=definition.get("description", ""),
        parameters=parameters,
        body=operation.body_component,
        answer=name_of(content.get(JSON, {}).get("schema")),
        event=event,
        terminator=_terminator(operation),
        finals=_finals(definition.get("x-stream")),
        final_field=_final_field(definition.get("x-stream")),
        lines=LINES in content,
        switch=switch,
        streams_by_default=operation.streams_by_default,
        socket=_socket(operation),
        refusals=tuple(dict.fromkeys(sentence for _, sentence in operation.conditions)),
        root=operation.is_only_at_root,
        items=_items(operation, parameters),
        conversation=next(
            (
                kind
                for end, kind in CONVERSATIONS.items()
                if operation.method == "POST" and operation.path.endswith(end)
            ),
            None,
        ),
    )


def _items(operation: Operation, parameters: tuple[Parameter, ...]) -> Items | None:
    answer = resolved(operation.document, operation.content().get(JSON, {}).get("schema", {}))
    data = resolved(operation.document, answer.get("properties", {}).get("data", {}))
    if operation.method != "GET" or "items" not in data:
        return None
    # A union is no class.
    is_class = "properties" in resolved(operation.document, data["items"])
    return Items(
        name_of(data["items"]) if is_class else None, any(parameter.name == "after" for parameter in parameters)
    )


def _terminator(operation: Operation) -> str | None:
    """Returns the text that ends the operation's stream."""
    media = operation.content().get(EVENTS)
    branches = event_data(operation.document, media) if media else []
    return next((branch["const"] for branch in branches if "const" in branch), None)


def _finals(table: dict[str, Any] | None) -> tuple[str, ...]:
    """Returns the types of the events that end a stream, if its table classifies events by `type`."""
    if table is None or table["classify"] != "type":
        return ()
    (outermost,) = (machine for machine in table["machines"].values() if "in" not in machine)
    return tuple(name for part in ("end", "fail", "abort") for name in outermost.get(part, ()))


def _final_field(table: dict[str, Any] | None) -> str | None:
    """Returns the field that only the last event of a stream has, if its table classifies events by their fields and
    no text follows that event."""
    if table is None or table["classify"] == "type" or table["terminator"] is not None:
        return None
    (outermost,) = (machine for machine in table["machines"].values() if "in" not in machine)
    return next((rule["at"][0] for rule in table["classify"] if rule["fact"] in outermost.get("end", ())), None)


def _without_error(document: Mapping[str, Any], schema: dict[str, Any]) -> str | None:
    """Returns the component of a stream's events without the system's ErrorResponse, which clients raise."""
    union = resolved(document, schema)
    left = [branch for branch in union.get("anyOf", ()) if not branch.get("$ref", "").endswith("ErrorResponse")]
    return name_of(left[0] if len(left) == 1 else schema)
