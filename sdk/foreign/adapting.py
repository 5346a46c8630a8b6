"""Operations and schemas of a document, in the form that the clients' generators take."""

import re
from collections.abc import Mapping, Set
from typing import Any, NamedTuple

from specvino.document.operations import EVENTS, JSON, LINES, METHODS, Schema, name_of
from specvino.document.pointers import component_name, schema_reference
from specvino.sdk.document import CONVERSATIONS
from specvino.sdk.foreign import names
from specvino.sdk.foreign.reading import as_dict, as_list, base_path
from specvino.sdk.package import PackageError

MOST_SCHEMAS = 500_000
"""Schemas of a document, with those that are copied from what objects extend. OpenAI's (2.3.0) has 14,000."""

FIELD = re.compile(r"[\w.$@:/\[\]-]{1,200}")
"""Names of fields. Others can be sent as extra fields, and read as extra attributes."""

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")

SCALAR = ("string", "integer", "number", "boolean")

FINALS = {
    "responses": ["response.completed", "response.incomplete", "response.failed"],
    "messages": ["message_stop"],
}
"""The last events of streams, by the kind of conversation. Documents other than this project's don't name them."""


class Adapted(NamedTuple):
    """A document of OpenAPI 3.1 as the generators take it: operations with JSON, whose bodies and answers are
    components. `left_out` are the other operations, with the reason."""

    document: dict[str, Any]
    left_out: list[str]


def adapted(document: dict[str, Any]) -> Adapted:
    """Returns a document in the form of the generators. Raises PackageError if no operation is left."""
    adapting = _Adapting(document)
    return Adapted(adapting.document, adapting.left_out)


class _Adapting:
    def __init__(self, document: dict[str, Any]) -> None:
        self._source = document
        self.left_out: list[str] = []
        self._left = MOST_SCHEMAS
        self._names: dict[str, str] = {}
        """The components' names here, by those in the source."""
        self._ids = set(names.METHODS)
        schemas = as_dict(as_dict(document.get("components")).get("schemas"))
        for name in schemas:
            self._names[name] = names.class_name(name, {*self._names.values()})
        self._schemas: dict[str, Schema] = {}
        for name, schema in schemas.items():
            self._schemas[self._names[name]] = self._schema(schema, frozenset((schema_reference(name),)))
        for name in self._schemas:
            self._end(name)
        self.document = {
            "openapi": "3.1.1",
            "info": {"title": "", "version": ""},
            "servers": [{"url": ""}],
            "paths": self._paths(base_path(document)),
            "components": {"schemas": self._schemas},
        }
        if not self.document["paths"]:
            raise PackageError("the document has no operation with answers of JSON")

    def _end(self, name: str) -> None:
        """Replaces a component that refers to nothing but itself."""
        seen, current = {name}, name_of(self._schemas[name])
        while current is not None:
            if current in seen:
                self._schemas[name] = {}
                return
            seen.add(current)
            current = name_of(self._schemas.get(current))

    def _paths(self, base: str) -> dict[str, Any]:
        paths: dict[str, Any] = {}
        # Of the same path with and without the base, the one with it counts.
        for path, item in sorted(
            as_dict(self._source.get("paths")).items(), key=lambda entry: not entry[0].startswith(f"{base}/")
        ):
            inside = path.removeprefix(base) if path.startswith(f"{base}/") else path
            shared = as_list(as_dict(item).get("parameters"))
            for method, definition in as_dict(item).items():
                if method not in METHODS:
                    continue
                if not re.fullmatch(r"(/([\w.~:@-]|\{[\w.:-]+\})*)+", inside, re.ASCII):
                    self.left_out.append(f"{method.upper()} {path}: its path has other characters than a URL's")
                    continue
                own = self._operation(path, inside, method, as_dict(definition), shared)
                if own is None:
                    self.left_out.append(f"{method.upper()} {path}: its body or answer isn't JSON")
                else:
                    target = own.pop("path")
                    if inside == path and base:
                        own["servers"] = [{"url": "/"}]
                    paths.setdefault(target, {}).setdefault(method, own)
        return paths

    def _operation(
        self, path: str, inside: str, method: str, definition: dict[str, Any], shared: list[Any]
    ) -> dict[str, Any] | None:
        """None for an operation whose body or answer is no JSON."""
        body = self._resolved(definition.get("requestBody"))
        sent = as_dict(body.get("content"))
        answer = next(
            (
                as_dict(self._resolved(response).get("content"))
                for status, response in as_dict(definition.get("responses")).items()
                if str(status).startswith("2") or status == "default"
            ),
            {},
        )
        if (sent and JSON not in sent) or (answer and not answer.keys() & {JSON, EVENTS, LINES}):
            return None
        id = self._id(definition.get("operationId"), path, method)
        parts: dict[str, str] = {}
        for part in re.findall(r"{([^}]+)}", inside):
            parts[part] = names.free(part, {*names.PARAMETERS, *parts.values()})
        declared = {  # an operation's own parameters override its path's
            (str(parameter.get("name")), str(parameter.get("in"))): parameter
            for parameter in map(self._resolved, [*shared, *as_list(definition.get("parameters"))])
        }
        parameters: list[dict[str, Any]] = [
            {"name": own, "in": "path", "required": True, "schema": self._scalar(declared.get((part, "path"), {}))}
            for part, own in parts.items()
        ]
        parameters += [
            {"name": name, "in": "query", "required": False, "schema": self._scalar(parameter)}
            for (name, where), parameter in declared.items()
            if where == "query" and names.is_parameter(name) and name not in parts.values()
        ]
        content: dict[str, Any] = {}
        if named := self._object(as_dict(answer.get(JSON)).get("schema"), id, "Answer"):
            content[JSON] = {"schema": {"$ref": schema_reference(named)}}
        operation: dict[str, Any] = {
            "path": re.sub(r"{([^}]+)}", lambda match: f"{{{parts[match[1]]}}}", inside),
            "operationId": id,
            "summary": names.line(definition.get("summary")).rstrip(".")[:200] or id.replace("_", " ").capitalize(),
            "parameters": parameters,
            "responses": {"200": {"content": content}},
        }
        if sent:
            request = self._object(as_dict(sent[JSON]).get("schema"), id, "Request") or self._added(id, "Request", {})
            request = self._without(request, id, {*names.FIELDS, *(parameter["name"] for parameter in parameters)})
            operation["requestBody"] = {"content": {JSON: {"schema": {"$ref": schema_reference(request)}}}}
            media = LINES if LINES in answer else EVENTS
            if media in answer or "stream" in self._schemas[request].get("properties", {}):
                fields = self._schemas[request].setdefault("properties", {})
                fields["stream"] = {"type": "boolean", "default": self._streams_by_default(as_dict(sent[JSON]))}
                content[media] = self._stream(operation, inside, id, media, as_dict(answer.get(media)))
        return operation

    def _id(self, operation_id: object, path: str, method: str) -> str:
        """The name of a method: the operationId in snake case, without what FastAPI adds to it."""
        name = str(operation_id) if isinstance(operation_id, str) else f"{method}_{path}"
        name = name.removesuffix(f"{re.sub(r'[^a-zA-Z0-9_]', '_', path)}_{method}")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        id = names.free(re.sub(r"[^a-z0-9]+", "_", name).strip("_"), self._ids)
        self._ids |= {id, *(f"{id}_{way}" for way in ("stream", "all", "parse", "tools", "session"))}
        return id

    def _scalar(self, parameter: dict[str, Any]) -> Schema:
        """The schema of a parameter: of a scalar, or a list of texts."""
        schema = self._schema(parameter.get("schema"))
        for _ in range(5):
            branches = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
            named = name_of(schema)
            schema = branches[0] if branches else self._schemas.get(named, {}) if named else schema
        type = next((type for type in _types(schema) if type in (*SCALAR, "array")), "string")
        values = [value for value in schema.get("enum", ()) if isinstance(value, str)]
        return {"type": type, **({"enum": values} if values and type == "string" else {})}

    def _streams_by_default(self, media: dict[str, Any]) -> bool:
        fields = as_dict(self._resolved(media.get("schema")).get("properties"))
        return self._resolved(fields.get("stream")).get("default") is True

    def _stream(
        self, operation: dict[str, Any], path: str, id: str, kind: str, media: dict[str, Any]
    ) -> dict[str, Any]:
        if kind == LINES:
            schema = self._schema(media.get("itemSchema") or media.get("x-itemSchema") or media.get("schema"))
            return {"x-itemSchema": {"$ref": schema_reference(name_of(schema) or self._added(id, "Event", schema))}}
        item = self._resolved(media.get("itemSchema") or media.get("x-itemSchema"))
        data = as_dict(as_dict(item.get("properties")).get("data"))
        branches = [data, *map(as_dict, as_list(data.get("anyOf"))), *map(as_dict, as_list(data.get("oneOf")))]
        events = [branch["contentSchema"] for branch in branches if "contentSchema" in branch]
        schema = self._schema(events[0] if events else media.get("schema"))
        name = name_of(schema) or self._added(id, "Event", schema if "anyOf" in schema else {})
        answer = name_of(operation["responses"]["200"]["content"].get(JSON, {}).get("schema"))
        if name == answer:  # some documents have the answer's schema there
            name = self._added(id, "Event", {})
        conversation = next((kind for end, kind in CONVERSATIONS.items() if path.endswith(end)), None)
        finals = FINALS.get(str(conversation))
        if finals:
            machines = {"stream": {"end": finals, "fail": ["error"]}}
            operation["x-stream"] = {"classify": "type", "machines": machines}
        end = [] if finals else [{"const": "[DONE]"}]
        event = {"contentSchema": {"$ref": schema_reference(name)}}
        return {"x-itemSchema": {"properties": {"data": {"anyOf": [event, *end]}}}}

    def _object(self, schema: object, id: str, role: str) -> str | None:
        """The component of a body: what it refers to, or a new one of an inline schema. None for what is no object."""
        own = self._schema(schema)
        name = name_of(own)
        while name is not None and "$ref" in self._schemas[name]:
            name = name_of(self._schemas[name])
        if name is not None:
            return name if "properties" in self._schemas.get(name, {}) else None
        return self._added(id, role, own) if "properties" in own else None

    def _added(self, id: str, role: str, schema: Schema) -> str:
        """A new component. One without properties would be a dict instead of a class."""
        name = names.class_name(f"{id}_{role}", self._schemas.keys())
        self._schemas[name] = schema or {"type": "object", "properties": {"type": {"type": "string"}}}
        return name

    def _without(self, request: str, id: str, taken: Set[str]) -> str:
        """The component of a body without the fields that a method has arguments for: `extra_body` can send them."""
        schema = self._schemas[request]
        if not taken & schema["properties"].keys():
            return request
        fields = {name: field for name, field in schema["properties"].items() if name not in taken}
        left = {
            **schema,
            "properties": fields,
            "required": [name for name in schema.get("required", ()) if name in fields],
        }
        return self._added(id, "Request", left if fields else {})

    def _schema(self, node: object, within: Set[str] = frozenset(), depth: int = 0) -> Schema:
        """A schema with the keywords that types need, and nothing else. `within` are the references whose properties
        are being copied."""
        source = as_dict(node)
        self._left -= 1
        if self._left < 0:
            raise PackageError(f"the document has more than {MOST_SCHEMAS:,} schemas, with those that objects extend")
        if depth > 50:
            return {}
        if isinstance(reference := source.get("$ref"), str):
            return self._reference(reference)
        parts = as_list(source.get("allOf"))
        if len(parts) == 1 and not source.get("properties"):
            return _nullable(source, self._schema(parts[0], within, depth + 1))
        schema: Schema = {}
        if types := _types(source):
            schema["type"] = types[0] if len(types) == 1 else types
        references: set[str] = set()
        own, required = self._fields(source, references)
        if own and depth and (again := sorted(references & within)):
            return _nullable(source, self._reference(again[0]))
        within = within | references
        for key in ("anyOf", "oneOf", *([] if own else ["allOf"])):
            branches = [self._schema(branch, within, depth + 1) for branch in as_list(source.get(key))]
            if branches and all(branches):
                schema["anyOf" if key == "oneOf" else key] = branches
        fields = {
            name: self._schema(field, within, depth + 1)
            for name, field in own.items()
            if FIELD.fullmatch(name) and name != "output_text"  # answers have a property of this name
        }
        if fields:
            schema["properties"] = fields
            schema["type"] = "object"
            schema["required"] = [name for name in required if isinstance(name, str) and name in fields]
        if "items" in source or "array" in types:
            schema["items"] = self._schema(source.get("items"), within, depth + 1)
        if isinstance(source.get("additionalProperties"), dict) and not fields:
            schema["additionalProperties"] = self._schema(source["additionalProperties"], within, depth + 1)
        elif "object" in types and not fields:
            schema["additionalProperties"] = True
        values = [source["const"]] if "const" in source else as_list(source.get("enum"))
        if values and all(isinstance(value, str | int | bool) and names.is_plain(value) for value in values):
            schema["enum"] = list(dict.fromkeys(values))
        if text := names.line(source.get("description")):
            schema["description"] = text[:1000]
        return _nullable(source, schema)

    def _reference(self, reference: str) -> Schema:
        name = self._names.get(component_name(reference)) if reference.startswith(schema_reference("")) else None
        return {"$ref": schema_reference(name)} if name else {}

    def _fields(self, source: dict[str, Any], references: set[str], depth: int = 0) -> tuple[dict[str, Any], list[Any]]:
        """The properties of an object with those of what it extends, and the names of the required ones. A subclass of
        its parts couldn't narrow their types. Adds what it refers to, and follows no reference twice."""
        fields: dict[str, Any] = {}
        required: list[Any] = []
        for part in map(as_dict, as_list(source.get("allOf")) if depth < 100 else ()):
            if (reference := str(part.get("$ref"))) in references:
                continue
            if "$ref" in part:
                references.add(reference)
            inherited, demanded = self._fields(self._resolved(part), references, depth + 1)
            fields |= inherited
            required += demanded
        return fields | as_dict(source.get("properties")), [*required, *as_list(source.get("required"))]

    def _resolved(self, node: object) -> dict[str, Any]:
        """An object, or the one in `components` that it refers to."""
        target = as_dict(node)
        for _ in range(10):
            reference = target.get("$ref")
            if not isinstance(reference, str):
                return target
            part: Any = self._source
            for step in reference.removeprefix("#/").split("/"):
                part = as_dict(part).get(step.replace("~1", "/").replace("~0", "~"))
            target = as_dict(part)
        return {}


def _nullable(source: Mapping[str, Any], schema: Schema) -> Schema:
    """A schema that OpenAPI 3.0 may call nullable."""
    if source.get("nullable") is not True:
        return schema
    return {"anyOf": [schema, {"type": "null"}]} if schema.keys() - {"description"} else {}


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type")
    return [type for type in (types if isinstance(types, list) else [types]) if type in TYPES]
