"""The document of a system, against which a server is tested: its answers, events, errors and levels of support."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, Literal

from specvino.document.loading import dialect_file, load, systems, whole
from specvino.document.operations import JSON, base_paths, by_endpoint, envelope_of
from specvino.document.pointers import at, resolved, schema_reference, unescape
from specvino.document.validator import Validator, Validators
from specvino.document.walk import all_schemas, reached
from specvino.generated.errors import ERRORS, ErrorCode
from specvino.generated.streams import STREAMS, Consecutive, Constant, Law, Machine, Stream

# The complete document of this project.
WHOLE = "specvino"

NAMES = (*systems(), WHOLE)

# The reason for which a request is refused.
Kind = Literal["json", "validation", "key", "unknown_model", "too_large", "media_type", "unknown_route", "method"]

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

# The components of errors, by the envelopes of dialect files; the envelope `text` isn't JSON.
ENVELOPES = {
    "openai": "ErrorResponse",
    "flat": "FlatError",
    "string": "ErrorText",
    "detail": "ErrorDetail",
    "json text": "ErrorInText",
}

# Levels at which a system isn't tested.
LEFT_OUT = ("ignored", "refused", "absent", "unknown")


class Dialect:
    """The document of the system `name`, one of NAMES. Raises ValueError for others."""

    def __init__(self, name: str) -> None:
        if name not in NAMES:
            raise ValueError(f"there is no dialect {name!r}; there are {', '.join(NAMES)}")
        self.name = name
        self.document = whole() if name == WHOLE else load(dialect_file(name))
        self._head: dict[str, Any] = self.document.get("x-dialect", {})
        self._answers: dict[str, Any] = self._head.get("answers", {})
        self.operations = by_endpoint(self.document)
        """By endpoint: chat, completions, responses, response, models, …"""

    @cached_property
    def digest(self) -> str:
        """Returns the digest that identifies this document in a report."""
        import hashlib

        return hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def _validators(self) -> Validators:
        return Validators(self.document)

    def level(self, pointer: str, endpoint: str) -> str:
        """Returns the level at which the system supports the target of a JSON pointer into the whole document, as a
        field of `endpoint`: `full` for a target without a level of its own, `absent` for an operation, a base path or a
        kind of object that the system doesn't have, and for a field that is always null. Raises KeyError for a pointer
        without a target."""
        if self.name != WHOLE and "/x-" in pointer:
            pointer = pointer[: pointer.index("/x-")]  # an annotation of a field has the field's level
        node = at(whole(), pointer)
        if not isinstance(node, Mapping) or node.get("x-endpoint") in self.operations:
            return "full"
        if "x-endpoint" in node:
            return "absent"
        if self.name == WHOLE:
            return "ignored" if node.get("x-handling") == "unsupported" else "full"
        if pointer.startswith("/servers/"):
            return "full" if node["url"] in base_paths(self.document) else "absent"
        for field, levels in node.get("x-support", {}).items():
            if field.split(".", 1)[0] == endpoint:
                support = levels[self.name]
                if isinstance(support, Mapping) and support.get("schema") == {"type": "null"}:
                    return "absent"
                return str(support if isinstance(support, str) else support["level"])
        return "absent" if self._has_no_such_object(pointer, endpoint) else "full"

    def _has_no_such_object(self, pointer: str, endpoint: str) -> bool:
        """Returns whether the pointer leads into an object component that nothing of the endpoint refers to in the
        system's document. (Other components are only names for values, which may be inlined there.)"""
        steps = pointer.split("/")
        if steps[1:3] != ["components", "schemas"] or endpoint not in self.operations:
            return False
        name = unescape(steps[3])
        is_object = "object" in whole()["components"]["schemas"][name].get("type", ())
        return is_object and name not in self._components[endpoint]

    @cached_property
    def _components(self) -> dict[str, set[str]]:
        """Returns the titles of the schemas that an operation refers to, by endpoint: copies of a component, reduced to
        what the system has of it in one place, have its title."""
        schemas = self.document["components"]["schemas"]
        return {
            endpoint: {schemas[name].get("title", name) for name in reached(self.document, operation.definition)}
            for endpoint, operation in self.operations.items()
        }

    def has_property(self, component: str, name: str) -> bool:
        """Returns whether objects of that component have a property that isn't always null."""
        field = self.document["components"]["schemas"][component]["properties"].get(name)
        return field is not None and field.get("type") != "null"

    def requires(self, component: str, name: str) -> bool:
        """Returns whether objects of that component always have a property."""
        return name in self.document["components"]["schemas"][component].get("required", ())

    def always_has(self, endpoint: str, name: str) -> bool:
        """Returns whether every JSON answer of an operation has a field."""
        content = self.operations[endpoint].content("200").get(JSON, {}) if endpoint in self.operations else {}
        return name in resolved(self.document, content.get("schema", {})).get("required", ())

    @cached_property
    def members(self) -> frozenset[str]:
        """Returns the names of all object fields in the system's document."""
        return frozenset(name for _, schema in all_schemas(self.document) for name in schema.get("properties", ()))

    def takes(self, endpoint: str, body: Any) -> bool | None:
        """Returns whether the system's document finds a body valid; None if the endpoint has no body."""
        operation = self.operations.get(endpoint)
        if operation is None or operation.body is None:
            return None
        return self.shape(operation.body).fits(body)

    def alone_refuses(self, endpoint: str, body: Any) -> bool:
        """Returns whether the system's document finds a body invalid that the whole document finds valid."""
        return self.takes(endpoint, body) is False and bool(_whole().takes(endpoint, body))

    def statuses(self, kind: Kind, endpoint: str) -> tuple[int, ...] | None:
        """Returns the statuses with which the system refuses such a request; None if they aren't known."""
        if self.name == WHOLE:
            return (ERRORS[CODES[kind]].status,)
        errors = self._head["errors"]
        statuses = errors["statuses"] | errors.get("at", {}).get(endpoint, {})
        status = statuses.get(kind)
        if isinstance(status, int):
            return (status,)
        return tuple(status) if isinstance(status, list) else None

    def answer(self, endpoint: str, status: int, media: str) -> Validator | None:
        """Returns the schema of an answer with this status and media type; None if the document has no such
        answer."""
        content = self.operations[endpoint].content(str(status)).get(media)
        return None if content is None else self.shape(content.get("schema", {}))

    def error(self, endpoint: str | None, status: int) -> Validator | None:
        """Returns the schema of an error with this status: that of the operation, otherwise that of the system's errors
        in general; None if such an error isn't JSON, or isn't known."""
        operation = self.operations.get(endpoint or "")
        if operation is not None and str(status) in operation.definition["responses"]:
            content = operation.content(str(status)).get(JSON)
            return None if content is None else self.shape(content["schema"])
        errors = self._head.get("errors", {"envelope": "openai"})
        unrouted = operation is None and status in (self.statuses("unknown_route", "") or ())
        own = unrouted and "unknown_route" in errors.get("envelopes", {})
        name = ENVELOPES.get(envelope_of(errors, endpoint, "unknown_route" if own else status), "")
        return self.shape({"$ref": schema_reference(name)}) if name in self.document["components"]["schemas"] else None

    def event(self, endpoint: str, value: Any = None) -> Validator | None:
        """Returns the schema of an event's data; None if the endpoint has no streams. A `value` without the field
        `error` is compared with the other events alone."""
        schema = self.operations[endpoint].event
        if schema is None:
            return None
        schema = resolved(self.document, schema)
        branches = schema.get("anyOf", ())
        others = [branch for branch in branches if "error" not in resolved(self.document, branch).get("required", ())]
        if isinstance(value, Mapping) and "error" not in value and 0 < len(others) < len(branches):
            return self.shape(others[0] if len(others) == 1 else {**schema, "anyOf": others})
        return self.shape(schema)

    def documented(self, endpoint: str) -> frozenset[int]:
        """Returns the documented statuses."""
        return frozenset(int(status) for status in self.operations[endpoint].definition["responses"])

    def stream(self, endpoint: str) -> Stream | None:
        """Returns the table of the endpoint's streams; None if the system's streams don't follow it."""
        stream = self.operations[endpoint].definition.get("x-stream")
        if stream is None:
            return None
        table = STREAMS[endpoint]
        laws = {law["law"]: law for law in stream["laws"] if isinstance(law, dict)} | {
            law: {} for law in stream["laws"] if isinstance(law, str)
        }
        return replace(
            table,
            framing=stream["framing"],
            terminator=stream["terminator"],
            machines=tuple(
                _narrowed(machine, stream["machines"][machine.name])
                for machine in table.machines
                if machine.name in stream["machines"]
            ),
            laws=tuple(
                _adapted(law, laws[_name(law)])
                for law in table.laws
                if _name(law) in laws and getattr(law, "of", None) in (None, *stream["machines"])
            ),
            silent=stream.get("silent", False),
        )

    @cached_property
    def unjudged(self) -> dict[str, str]:
        """Returns the parts of the stream order that can't be checked, by names like those of rules, with the
        reason."""
        parts = {}
        for endpoint, stream in self._head.get("stream", {}).items():
            if "order" in stream and "breaks" not in stream:
                parts[f"{endpoint}/rules/stream-order"] = f"{self.name}: {stream['order']}"
            for part in stream.get("breaks", ()):
                parts[f"{endpoint}/rules/stream-order/{part}"] = f"{self.name}: {stream['order']}"
        return parts

    def terminator(self, endpoint: str) -> str | None:
        """Returns the text that ends the endpoint's streams, which isn't an event."""
        if self.name == WHOLE:
            return STREAMS[endpoint].terminator
        terminator: str | None = self._head["stream"][endpoint]["terminator"]
        return terminator

    @property
    def unknown_fields(self) -> str:
        """Returns what the system does with unknown fields: `ignored` or `refused`."""
        return "ignored" if self.name == WHOLE else str(self._head["unknown_fields"])

    @property
    def names_fields(self) -> bool:
        """Whether a refusal says in `param` which field is wrong; otherwise it is null, or doesn't exist."""
        return bool(self._answers.get("error_param", True))

    @property
    def gives_unique_ids(self) -> bool:
        """Whether no two answers have one id."""
        return bool(self._answers.get("unique_ids", True))

    @property
    def has_reliable_calls(self) -> bool:
        """Whether tool calls name existing tools, with arguments that fit those that are forced; otherwise only for
        strict tools."""
        return bool(self._answers.get("reliable_calls", True))

    @property
    def specifies_role_chunks(self) -> bool:
        """Whether the order of a stream says in which chunks a choice has its role."""
        return self._answers.get("role_chunks") != "unspecified"

    @property
    def echoes_logprobs(self) -> bool:
        """Whether the logprobs of an echo include the prompt's tokens."""
        return bool(self._answers.get("echoed_logprobs", True))

    def text_length(self, text: str) -> int:
        """Returns the length of a text as `text_offset` counts it."""
        return len(text.encode() if self._answers.get("text_offset") == "bytes" else text)

    def shown(self, text: str) -> str:
        """Returns what logprobs show of a text: all of it, or what is printable ASCII without spaces."""
        if self._answers.get("logprob_tokens") != "printable ascii":
            return text
        return "".join(character for character in text if "!" <= character <= "~")

    def withheld_tokens(self, endpoint: str | None) -> int:
        """Returns how many tokens fewer than its limit an answer of the endpoint can have."""
        return int(self._answers.get("withheld_tokens", {}).get(endpoint, 0))

    def shape(self, schema: dict[str, Any]) -> Validator:
        """Returns the validator of a schema of the document. Each is compiled once."""
        return self._validators.of(schema)


@cache
def _whole() -> Dialect:
    return Dialect(WHOLE)


def _narrowed(machine: Machine, narrower: Mapping[str, Any]) -> Machine:
    body, end = tuple(narrower.get("body", ())), tuple(narrower.get("end", ()))
    return replace(machine, open=narrower.get("open"), body=body, end=end)


def _adapted(law: Law, values: Mapping[str, Any]) -> Law:
    if isinstance(law, Consecutive):
        return replace(law, start=values["from"])
    return replace(law, fields=tuple(values["fields"])) if isinstance(law, Constant) else law


def _name(law: Law) -> str:
    """Returns a law's name as the document has it: `one fact` of OneFact."""
    return re.sub("(?<!^)([A-Z])", r" \1", type(law).__name__).lower()
