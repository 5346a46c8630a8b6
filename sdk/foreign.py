"""Any OpenAPI 3 document of an OpenAI-compatible server, as the clients' generators take it.

Nothing of such a document is trusted: what becomes a part of code is built anew here, out of names in the form of
identifiers, cleaned texts and the keywords of schemas that are listed. What has no such form is left out.
"""

import builtins
import json
import keyword
import re
import typing
from collections.abc import Collection, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import yaml

from specvino.document.operations import EVENTS, JSON, METHODS, Schema, name_of
from specvino.document.pointers import component_name, schema_reference
from specvino.sdk.document import CONVERSATIONS
from specvino.sdk.package import OWN_SERVER, Package, PackageError

LARGEST = 50_000_000
"""Bytes of a document."""

CLASSES = frozenset(
    (
        *dir(builtins), *dir(typing),
        "Answer", "BaseModel", "ConfigDict", "Field", "RootModel", "TypeAliasType", "UnknownKind", "Unpack",
    )
)  # fmt: skip
"""Names of classes that the generated modules have already."""

METHODS_TAKEN = frozenset(
    (
        *keyword.kwlist, "close", "with_raw_response", "constructor", "then",
        "bool", "bytes", "dict", "float", "int", "list", "object", "property", "str", "tuple", "type",
    )
)  # fmt: skip
"""Names that methods can't have: `then` would be called by `await` of JavaScript, and a method with the name of a type
would take its place in the annotations of its class."""

PARAMETERS = frozenset(
    (
        *keyword.kwlist,
        "arguments", "await", "case", "catch", "const", "debugger", "default", "delete", "do", "enum", "eval", "export",
        "extends", "false", "function", "implements", "instanceof", "interface", "let", "new", "null", "package",
        "private", "protected", "public", "static", "super", "switch", "this", "throw", "true", "typeof", "var", "void",
        "yield",
        "body", "extra_body", "extra_headers", "extra_query", "functions", "kind", "options", "query", "rounds", "self",
        "timeout",
        "Call", "End", "Tools", "answer", "asked", "asking", "cast", "dict", "events", "getattr", "inspect", "item",
        "page", "parsed", "results", "segment", "tools", "use", "uses", "value",
    )
)  # fmt: skip
"""Names that parameters of the generated methods can't have: keywords of both languages, and what methods use."""

FIELD = re.compile(r"[\w.$@:/\[\]-]{1,200}")
"""Names of fields. Others can be sent as extra fields, and read as extra attributes."""

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")

SCALAR = ("string", "integer", "number", "boolean")

FINALS = {
    "responses": ["response.completed", "response.incomplete", "response.failed"],
    "messages": ["message_stop"],
}
"""The last events of streams, by the kind of conversation. Documents other than this project's don't name them."""

VERSION = re.compile(r"v\d+\w*")


OWN_ARGUMENTS = frozenset(("self", "timeout", "extra_headers", "extra_query", "extra_body", "rounds"))
"""Names of methods' own arguments beside the body's fields."""


def read_document(source: str) -> dict[str, Any]:
    """Returns the document of a file or a URL, in JSON or YAML. Raises PackageError."""
    try:
        if source.startswith(("http://", "https://")):
            answer = httpx.get(source, follow_redirects=True, timeout=60).raise_for_status()
            text = answer.text
        else:
            text = Path(source).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError, httpx.HTTPError, httpx.InvalidURL) as error:
        raise PackageError(f"the document {source} can't be read: {error}") from None
    if len(text) > LARGEST:
        raise PackageError(f"the document {source} is too large: more than {LARGEST:,} characters")
    try:
        document = json.loads(text) if text.lstrip().startswith("{") else yaml.load(text, yaml.CSafeLoader)
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise PackageError(f"the document {source} is neither JSON nor YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(document, dict) or not re.match(r"3\.[012]", str(document.get("openapi"))):
        raise PackageError(f"{source} is no OpenAPI document of version 3.0, 3.1 or 3.2")
    return document


def describe_document(document: dict[str, Any], source: str) -> Package:
    """Returns the package for a document, which is named after its title."""
    info = _dict(document.get("info"))
    title = _line(info.get("title")).replace('"', "")[:100] or "a server"
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower())[:50].strip("-0123456789") or "server"
    numbers = re.match(r"\d{1,9}(\.\d{1,9}){0,2}", str(info.get("version")))
    version = ".".join([*(numbers[0].split(".") if numbers else ()), "0", "0", "0"][:3])
    url = _address(document, source)
    base = _base(document)
    url += base if not url.endswith(base) else ""
    return Package(None, title, version, url, None, None, f"{slug.removesuffix('-client')}-client")


def named(package: Package, name: str | None, version: str | None) -> Package:
    """Returns the package with a name and a version of its own. Raises PackageError."""
    if name is not None and not re.fullmatch(r"[a-z]([a-z0-9-]{0,98}[a-z0-9])?", name):
        raise PackageError(f"--name {name}: use small letters, digits and hyphens, beginning with a letter")
    if version is not None and not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise PackageError(f"--version {version}: use three numbers, such as 1.2.0")
    return replace(package, name=name or package.name, version=version or package.version)


def _address(document: dict[str, Any], source: str) -> str:
    """The server's address: of the document, or whence it comes."""
    root = source if source.startswith(("http://", "https://")) else f"{OWN_SERVER}/"
    servers = _list(document.get("servers"))
    said = str(_dict(servers[0]).get("url")) if servers else "/"
    url = urlsplit(urljoin(root, said if re.fullmatch(r"[\w.~:/%@+-]*", said) else "/"))
    # Whoever has a password in an address means it for themselves.
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}".rstrip("/")


def _base(document: dict[str, Any]) -> str:
    """What the path of chats begins with, or else most paths, such as `/v1`: it belongs to the address of
    OpenAI-compatible servers."""
    paths = [path.split("/") for path in _dict(document.get("paths")) if path.startswith("/")]
    versions = [parts[1] for parts in paths if VERSION.fullmatch(parts[1])]
    chats = [parts[1] for parts in paths if parts[1] in versions and parts[2:] == ["chat", "completions"]]
    common = max(chats or versions, key=versions.count, default="")
    return f"/{common}" if chats or versions.count(common) * 2 >= len(paths) > 0 else ""


def adapted(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a document of OpenAPI 3.1 as the generators take it: operations with JSON, whose bodies and answers are
    components. Raises PackageError if none is left."""
    return _Adapted(document).document


class _Adapted:
    def __init__(self, document: dict[str, Any]) -> None:
        self._source = document
        self._names: dict[str, str] = {}
        """The components' names here, by those in the source."""
        self._ids = set(METHODS_TAKEN)
        schemas = _dict(_dict(document.get("components")).get("schemas"))
        for name in schemas:
            self._names[str(name)] = _class_name(str(name), {*self._names.values()})
        self._schemas: dict[str, Schema] = {}
        for name, schema in schemas.items():
            self._schemas[self._names[str(name)]] = self._schema(schema)
        for name in self._schemas:
            self._end(name)
        self.document = {
            "openapi": "3.1.1",
            "info": {"title": "", "version": ""},
            "servers": [{"url": ""}],
            "paths": self._paths(_base(document)),
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
            _dict(self._source.get("paths")).items(), key=lambda entry: not entry[0].startswith(base)
        ):
            inside = path.removeprefix(base) if path.startswith(f"{base}/") else path
            for method, definition in _dict(item).items():
                if method not in METHODS or not re.fullmatch(r"(/([\w.~:@-]|\{[\w.:-]+\})*)+", inside, re.ASCII):
                    continue
                own = self._operation(path, inside, method, _dict(definition), _list(_dict(item).get("parameters")))
                if own is not None:
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
        sent = _dict(body.get("content"))
        answer = next(
            (
                _dict(self._resolved(each).get("content"))
                for status, each in _dict(definition.get("responses")).items()
                if str(status).startswith("2") or status == "default"
            ),
            {},
        )
        if (sent and JSON not in sent) or (answer and JSON not in answer and EVENTS not in answer):
            return None
        id = self._id(definition.get("operationId"), path, method)
        parts: dict[str, str] = {}
        for part in re.findall(r"{([^}]+)}", inside):
            parts[part] = _free(part, {*PARAMETERS, *parts.values()})
        said: dict[tuple[Any, Any], dict[str, Any]] = {
            (each.get("name"), each.get("in")): each  # an operation's own ones take the place of its path's
            for each in map(self._resolved, [*shared, *_list(definition.get("parameters"))])
        }
        parameters: list[dict[str, Any]] = [
            {"name": own, "in": "path", "required": True, "schema": self._scalar(said.get((part, "path"), {}))}
            for part, own in parts.items()
        ]
        parameters += [
            {"name": name, "in": "query", "required": False, "schema": self._scalar(each)}
            for (name, where), each in said.items()
            if where == "query" and _is_parameter(name) and name not in parts.values()
        ]
        content: dict[str, Any] = {}
        if named := self._object(_dict(answer.get(JSON)).get("schema"), id, "Answer"):
            content[JSON] = {"schema": {"$ref": schema_reference(named)}}
        operation: dict[str, Any] = {
            "path": re.sub(r"{([^}]+)}", lambda match: f"{{{parts[match[1]]}}}", inside),
            "operationId": id,
            "summary": _line(definition.get("summary")).rstrip(".")[:200] or id.replace("_", " ").capitalize(),
            "parameters": parameters,
            "responses": {"200": {"content": content}},
        }
        if sent:
            request = self._object(_dict(sent[JSON]).get("schema"), id, "Request") or self._added(id, "Request", {})
            request = self._without(request, id, {*OWN_ARGUMENTS, *(parameter["name"] for parameter in parameters)})
            operation["requestBody"] = {"content": {JSON: {"schema": {"$ref": schema_reference(request)}}}}
            if EVENTS in answer or "stream" in self._schemas[request].get("properties", {}):
                self._schemas[request].setdefault("properties", {}).setdefault("stream", {"type": "boolean"})
                content[EVENTS] = self._stream(operation, inside, id, _dict(answer.get(EVENTS)))
        return operation

    def _id(self, said: object, path: str, method: str) -> str:
        """The name of a method: the operationId in snake case, without what FastAPI adds to it."""
        name = str(said) if isinstance(said, str) else f"{method}_{path}"
        name = name.removesuffix(f"{re.sub(r'[^a-zA-Z0-9_]', '_', path)}_{method}")
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        id = _free(re.sub(r"[^a-z0-9]+", "_", name).strip("_"), self._ids)
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

    def _stream(self, operation: dict[str, Any], path: str, id: str, media: dict[str, Any]) -> dict[str, Any]:
        item = self._resolved(media.get("itemSchema") or media.get("x-itemSchema"))
        data = _dict(_dict(item.get("properties")).get("data"))
        branches = [data, *map(_dict, _list(data.get("anyOf"))), *map(_dict, _list(data.get("oneOf")))]
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
        name = _class_name(f"{id}_{role}", self._schemas.keys())
        self._schemas[name] = schema or {"type": "object", "properties": {"type": {"type": "string"}}}
        return name

    def _without(self, request: str, id: str, names: Set[str]) -> str:
        """The component of a body without the fields that a method has arguments for: `extra_body` can send them."""
        schema = self._schemas[request]
        if not names & schema["properties"].keys():
            return request
        fields = {name: field for name, field in schema["properties"].items() if name not in names}
        left = {
            **schema,
            "properties": fields,
            "required": [name for name in schema.get("required", ()) if name in fields],
        }
        return self._added(id, "Request", left if fields else {})

    def _schema(self, said: object, depth: int = 0) -> Schema:
        """A schema with the keywords that types need, and nothing else."""
        source = _dict(said)
        if depth > 50:
            return {}
        if isinstance(reference := source.get("$ref"), str):
            name = self._names.get(component_name(reference)) if reference.startswith(schema_reference("")) else None
            return {"$ref": schema_reference(name)} if name else {}
        parts = _list(source.get("allOf"))
        if len(parts) == 1 and not source.get("properties"):
            return _nullable(source, self._schema(parts[0], depth + 1))
        schema: Schema = {}
        if types := _types(source):
            schema["type"] = types[0] if len(types) == 1 else types
        own, required = self._fields(source)
        for key in ("anyOf", "oneOf", *([] if own else ["allOf"])):
            branches = [self._schema(branch, depth + 1) for branch in _list(source.get(key))]
            if branches and all(branches):
                schema["anyOf" if key == "oneOf" else key] = branches
        fields = {
            str(name): self._schema(field, depth + 1)
            for name, field in own.items()
            if FIELD.fullmatch(str(name)) and name != "output_text"  # answers have a property of this name
        }
        if fields:
            schema["properties"] = fields
            schema["type"] = "object"
            schema["required"] = [name for name in required if isinstance(name, str) and name in fields]
        if "items" in source or "array" in types:
            schema["items"] = self._schema(source.get("items"), depth + 1)
        if isinstance(source.get("additionalProperties"), dict) and not fields:
            schema["additionalProperties"] = self._schema(source["additionalProperties"], depth + 1)
        elif "object" in types and not fields:
            schema["additionalProperties"] = True
        values = [source["const"]] if "const" in source else _list(source.get("enum"))
        if values and all(isinstance(value, str | int | bool) and _is_plain(value) for value in values):
            schema["enum"] = list(dict.fromkeys(values))
        if text := _line(source.get("description")):
            schema["description"] = text[:1000]
        return _nullable(source, schema)

    def _fields(self, source: dict[str, Any], depth: int = 0) -> tuple[dict[str, Any], list[Any]]:
        """The properties of an object with those of what it extends, and the names of the required ones. A subclass of
        its parts couldn't narrow their types."""
        fields: dict[str, Any] = {}
        required: list[Any] = []
        for part in _list(source.get("allOf")) if depth < 20 else ():
            inherited, names = self._fields(self._resolved(part), depth + 1)
            fields |= inherited
            required += names
        return fields | _dict(source.get("properties")), [*required, *_list(source.get("required"))]

    def _resolved(self, node: object) -> dict[str, Any]:
        """An object, or the one in `components` that it refers to."""
        target = _dict(node)
        for _ in range(10):
            reference = target.get("$ref")
            if not isinstance(reference, str):
                return target
            found: Any = self._source
            for step in reference.removeprefix("#/").split("/"):
                found = _dict(found).get(step.replace("~1", "/").replace("~0", "~"))
            target = _dict(found)
        return {}


def _nullable(source: Mapping[str, Any], schema: Schema) -> Schema:
    """A schema that OpenAPI 3.0 may call nullable."""
    if source.get("nullable") is not True:
        return schema
    return {"anyOf": [schema, {"type": "null"}]} if schema.keys() - {"description"} else {}


def _types(schema: Mapping[str, Any]) -> list[str]:
    said = schema.get("type")
    return [each for each in (said if isinstance(said, list) else [said]) if each in TYPES]


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_plain(value: object) -> bool:
    return not isinstance(value, str) or (value.isprintable() and not re.search(r"""["'\\`$*{}]""", value))


def _line(text: object) -> str:
    """A text as one line that ends no comment or literal of a language."""
    said = "".join(each if each.isprintable() else " " for each in text) if isinstance(text, str) else ""
    said = said.replace("\\", "/").replace('"""', "'''").replace("*/", "* /").replace("{", "(").replace("}", ")")
    return re.sub(r"\s+", " ", said).strip().strip('"')


def _is_parameter(name: object) -> bool:
    """Whether a name can be that of a keyword argument. Others can be sent by `extra_query`."""
    return isinstance(name, str) and name.isidentifier() and name.isascii() and name not in PARAMETERS


def _class_name(name: str, taken: Collection[str]) -> str:
    """A free name in the form that datamodel-code-generator gives to classes, so that it is the class's name."""
    parts = re.split(r"[^a-zA-Z0-9]+", name)
    pascal = "".join(f"{part[:1].upper()}{part[1:]}" for part in parts)
    return _free(pascal or "Unnamed", {*taken, *CLASSES})


def _free(name: str, taken: set[str] | frozenset[str]) -> str:
    """An identifier of ASCII that isn't taken."""
    plain = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_") or "unnamed"
    plain = f"A{plain}" if plain[0].isdigit() else plain
    number = 2
    free = plain
    while free in taken:
        free = f"{plain}{number}"
        number += 1
    return free
