"""A system's document, against which a server is tested: schemas of answers, events and errors, statuses, support
levels."""

import json
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import Any, Literal

from specvino.conformance.echoes import with_nullable_echoes
from specvino.conformance.streams.asides import is_aside
from specvino.conformance.streams.narrowed import narrowed
from specvino.document.described import Describer
from specvino.document.loading import WHOLE, dialect_file, dialects, load, whole
from specvino.document.operations import JSON, Schema, base_paths, by_endpoint, envelope_of
from specvino.document.pointers import at, resolved, schema_reference, unescape
from specvino.document.system_fields import system_name
from specvino.document.unions import Union
from specvino.document.validator import Validator, Validators
from specvino.document.walk import reached
from specvino.generated.errors import ERRORS, ErrorCode
from specvino.generated.streams import STREAMS, Stream

NAMES = (*dialects(), WHOLE)

# Reasons to refuse a request.
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

# Components of error bodies, by the envelope name in dialect files. The envelope `text` isn't JSON.
ENVELOPES = {
    "openai": "ErrorResponse",
    "anthropic": "AnthropicErrorResponse",
    "flat": "FlatError",
    "string": "ErrorText",
    "detail": "ErrorDetail",
    "json text": "ErrorInText",
}

# The head of the complete document, which has no other: a server follows it in everything.
OWN_HEAD = {
    "errors": {"envelope": "openai", "statuses": {kind: ERRORS[code].status for kind, code in CODES.items()}},
    "stream": {endpoint: {"terminator": table.terminator} for endpoint, table in STREAMS.items()},
    "unknown_fields": "ignored",
}

# Support levels that exclude a feature from a system's tests.
LEFT_OUT = ("ignored", "refused", "absent", "unknown")


class Dialect:
    """The document of one system. `name` is one of NAMES; raises ValueError for others."""

    def __init__(self, name: str) -> None:
        if name not in NAMES:
            raise ValueError(f"unknown dialect {name!r}; available: {', '.join(NAMES)}")
        self.name = name
        self.system = system_name(name)
        self.document = whole() if name == WHOLE else load(dialect_file(name))
        self.is_exact = "x-dialect" not in self.document
        """Whether a server must follow the document in everything: it has all operations, and no other members,
        statuses or methods. A system's document describes what this project's API has of the system.
        """
        self._head: dict[str, Any] = self.document.get("x-dialect", OWN_HEAD)
        self._answers: dict[str, Any] = self._head.get("answers", {})
        self.operations = by_endpoint(self.document)
        """The operations by endpoint: chat, completions, responses, response, models, …"""

    def __eq__(self, other: object) -> bool:
        """Two of one document are equal, so that what is cached by the last dialect serves the next run by it."""
        return isinstance(other, Dialect) and self.name == other.name and self.document is other.document

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def lists_refusals(self) -> bool:
        """Whether the document lists the refusals of valid requests."""
        return any("x-refusals" in operation.definition for operation in self.operations.values())

    @property
    def lists_error_codes(self) -> bool:
        """Whether the document defines the codes of all errors."""
        return "ErrorCode" in self.document["components"]["schemas"]

    @cached_property
    def digest(self) -> str:
        """Returns a digest of the document, 16 hexadecimal digits, for reports."""
        import hashlib

        return hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def _validators(self) -> Validators:
        return Validators(self.document if self.is_exact else with_nullable_echoes(self.document))

    def level(self, pointer: str, endpoint: str) -> str:
        """Returns the support level of a JSON pointer's target, as a field of `endpoint`. Raises KeyError for a pointer
        without a target.

        `pointer` refers to the complete document. The level is `full` for a target without a level of its own; `absent`
        for an operation, WebSocket, base path or object type that the system lacks; for a field that is always null.
        """
        if pointer.endswith("/x-websocket"):
            return "full" if self.has_socket(endpoint) else "absent"
        if not self.is_exact and "/x-" in pointer:
            pointer = pointer[: pointer.index("/x-")]  # an annotation has the level of its field
        node = at(whole(), pointer)
        if not isinstance(node, Mapping) or node.get("x-endpoint") in self.operations:
            return "full"
        if "x-endpoint" in node:
            return "absent"
        if self.is_exact:
            return "ignored" if node.get("x-handling") == "unsupported" else "full"
        if pointer.startswith("/servers/"):
            return "full" if node["url"] in base_paths(self.document) else "absent"
        for field, levels in node.get("x-support", {}).items():
            if field.split(".", 1)[0] == endpoint:
                support = self._head.get("levels", {}).get(field, levels[self.system])
                if isinstance(support, Mapping) and support.get("schema") == {"type": "null"}:
                    return "absent"
                return str(support if isinstance(support, str) else support["level"])
        return "absent" if self._has_no_such_object(pointer, endpoint) else "full"

    def _has_no_such_object(self, pointer: str, endpoint: str) -> bool:
        """Returns whether the pointer leads into an object schema that the endpoint doesn't use in the system's
        document. Other components may be inlined there."""
        steps = pointer.split("/")
        if steps[1:3] != ["components", "schemas"] or endpoint not in self.operations:
            return False
        name = unescape(steps[3])
        is_object = "object" in whole()["components"]["schemas"][name].get("type", ())
        return is_object and name not in _components(self)[endpoint]

    def has_property(self, component: str, name: str) -> bool:
        """Returns whether objects of a component can have a non-null property of that name."""
        field = self.document["components"]["schemas"][component]["properties"].get(name)
        return field is not None and field.get("type") != "null"

    def requires(self, component: str, name: str) -> bool:
        """Returns whether a property of a component is required."""
        return name in self.document["components"]["schemas"][component].get("required", ())

    def always_has(self, endpoint: str, name: str) -> bool:
        """Returns whether a field is required in the JSON answers of an operation."""
        content = self.operations[endpoint].content("200").get(JSON, {}) if endpoint in self.operations else {}
        return name in resolved(self.document, content.get("schema", {})).get("required", ())

    def described(self, endpoint: str, answer: Any) -> Any:
        """Returns the part of an operation's JSON answer that the document describes: other systems may have members of
        their own, also in one form of an answer only. For our own document, the whole answer."""
        return self._described(self.operations[endpoint].content("200").get(JSON, {}).get("schema"), answer)

    def described_event(self, endpoint: str, event: Any) -> Any:
        """Returns the part of an event's data that the document describes, as `described` does."""
        return self._described(self.operations[endpoint].event, event)

    def _described(self, schema: dict[str, Any] | None, value: Any) -> Any:
        return value if self.is_exact or schema is None else self._describer.described(schema, value)

    @cached_property
    def _describer(self) -> Describer:
        return Describer(self.document)

    def accepts(self, endpoint: str, body: Any) -> bool | None:
        """Returns whether a request body is valid by the system's document; None if the endpoint has no body."""
        operation = self.operations.get(endpoint)
        if operation is None or operation.body is None:
            return None
        return self.validator(operation.body).fits(body)

    def fields(self, path: str) -> Mapping[str, Any]:
        """Returns the schemas of the fields of requests at a path, by name; empty if they have no body. The path may be
        relative to the server's root, with two leading slashes."""
        path = path.removeprefix("/") if path.startswith("//") else path
        bodies = (operation.body for operation in self.operations.values() if operation.body and operation.path == path)
        return next((resolved(self.document, body).get("properties", {}) for body in bodies), {})

    def alone_rejects(self, endpoint: str, body: Any) -> bool:
        """Returns whether a request body is valid by the complete document, but not by the system's."""
        return self.accepts(endpoint, body) is False and bool(own_dialect().accepts(endpoint, body))

    def statuses(self, kind: Kind, endpoint: str) -> tuple[int, ...] | None:
        """Returns the statuses with which the system refuses a request for this reason; None if they are unknown."""
        errors = self._head["errors"]
        statuses = errors["statuses"] | errors.get("at", {}).get(endpoint, {})
        status = statuses.get(kind)
        if isinstance(status, int):
            return (status,)
        return tuple(status) if isinstance(status, list) else None

    def answer(self, endpoint: str, status: int, media: str) -> Validator | None:
        """Returns the validator of answers with this status and media type; None if the document has no such answer."""
        content = self.operations[endpoint].content(str(status)).get(media)
        return None if content is None else self.validator(content.get("schema", {}))

    def error(self, endpoint: str | None, status: int) -> Validator | None:
        """Returns the validator of errors with this status: of the operation, otherwise of the system in general. None
        if such errors aren't JSON, or are unknown."""
        operation = self.operations.get(endpoint or "")
        responses = operation.definition["responses"] if operation else {}
        # Errors of one operation of our document have one shape, and all operations have the status 500.
        documented = "500" if self.is_exact and str(status) not in responses else str(status)
        if operation is not None and documented in responses:
            content = operation.content(documented).get(JSON)
            return None if content is None else self.validator(content["schema"])
        errors = self._head["errors"]
        unrouted = operation is None and status in (self.statuses("unknown_route", "") or ())
        has_own_envelope = unrouted and "unknown_route" in errors.get("envelopes", {})
        name = ENVELOPES.get(envelope_of(errors, endpoint, "unknown_route" if has_own_envelope else status), "")
        return (
            self.validator({"$ref": schema_reference(name)}) if name in self.document["components"]["schemas"] else None
        )

    def event(self, endpoint: str, value: Any = None) -> Validator | None:
        """Returns the validator of an event's data; None if the endpoint doesn't stream. For a `value` without the
        field `error`, only the schemas of other events apply, so that violations are specific."""
        any_event, without_error = self._event_validators[endpoint]
        return without_error if isinstance(value, Mapping) and "error" not in value else any_event

    @cached_property
    def _event_validators(self) -> Mapping[str, tuple[Validator | None, Validator | None]]:
        """The validators of each endpoint's events, and of those of its events that don't require `error`."""
        return {
            endpoint: self._validators_of_events(operation.event) for endpoint, operation in self.operations.items()
        }

    def _validators_of_events(self, schema: Schema | None) -> tuple[Validator | None, Validator | None]:
        if schema is None:
            return None, None
        schema = resolved(self.document, schema)
        branches = schema.get("anyOf", ())
        others = [branch for branch in branches if "error" not in resolved(self.document, branch).get("required", ())]
        any_event = self.validator(schema)
        if not 0 < len(others) < len(branches):
            return any_event, any_event
        return any_event, self.validator(others[0] if len(others) == 1 else {**schema, "anyOf": others})

    def governs(self, endpoint: str, event: Any) -> bool:
        """Returns whether the document describes an event with this data: other systems have types of their own."""
        if not isinstance(event, Mapping):
            return True
        table = STREAMS[endpoint]
        has_types = isinstance(table.classify, str)
        return self.undocumented_type(endpoint, event) is None if has_types else not is_aside(table, event)

    def undocumented_type(self, endpoint: str, event: Mapping[str, Any]) -> str | None:
        """Returns the type of an event that the document doesn't have; None for all others, also for those without a
        type."""
        by = STREAMS[endpoint].classify
        name = event.get(by) if isinstance(by, str) else None
        return name if isinstance(name, str) and name not in self._event_types[endpoint] else None

    @cached_property
    def _event_types(self) -> dict[str, frozenset[str]]:
        events = {endpoint: operation.event for endpoint, operation in self.operations.items()}
        return {
            endpoint: frozenset(Union([event], self.document).known)
            for endpoint, event in events.items()
            if event is not None
        }

    def has_socket(self, endpoint: str) -> bool:
        """Returns whether an operation is also served over a WebSocket."""
        return endpoint in self.operations and "x-websocket" in self.operations[endpoint].definition

    def message_ends(self, endpoint: str) -> frozenset[str]:
        """Returns the types of the messages that end an answer on the endpoint's WebSocket."""
        outermost = next(machine for machine in STREAMS[endpoint].machines if machine.inside is None)
        return frozenset((*outermost.end, *outermost.fail, *outermost.abort))

    def message(self, endpoint: str, value: Any) -> tuple[Validator, ...]:
        """Returns the validators of a message on the endpoint's WebSocket: of an error, or of an event and of what
        messages have besides."""
        if isinstance(value, Mapping) and value.get("type") == "error":
            return (self.message_error(endpoint),)
        event = self.event(endpoint, value)
        assert event is not None
        return event, self.validator(self.operations[endpoint].definition["x-websocket"]["fields"])

    def message_error(self, endpoint: str) -> Validator:
        """Returns the validator of errors on the endpoint's WebSocket."""
        schema = self.operations[endpoint].definition["x-websocket"]["error"]
        if self.is_exact:
            return self.validator(schema)
        event = resolved(self.document, schema)
        error = resolved(self.document, event["properties"]["error"])
        # In OpenAI's package (openai 3.54.0, types/responses/responses_server_event.py: ResponseWsError) the status,
        # and an error's code and param, are optional.
        return self.validator(
            {
                **event,
                "required": ["type", "error"],
                "properties": {**event["properties"], "error": {**error, "required": ["message", "type"]}},
            }
        )

    def documented_statuses(self, endpoint: str) -> frozenset[int]:
        """Returns the statuses that the document lists for the operation."""
        return frozenset(int(status) for status in self.operations[endpoint].definition["responses"])

    def stream(self, endpoint: str) -> Stream | None:
        """Returns the table of the endpoint's streams, reduced to what holds for the system; None if its streams don't
        follow the table."""
        stream = self.operations[endpoint].definition.get("x-stream")
        if stream is None:
            return None
        return narrowed(STREAMS[endpoint], stream)

    @cached_property
    def unchecked_rules(self) -> dict[str, str]:
        """Returns the parts of the stream order that can't be checked for the system: rule-like ids with the reason."""
        parts = {}
        for endpoint, stream in self._head.get("stream", {}).items():
            if "order" in stream and "breaks" not in stream:
                parts[f"{endpoint}/rules/stream-order"] = f"{self.name}: {stream['order']}"
            for part in stream.get("breaks", ()):
                parts[f"{endpoint}/rules/stream-order/{part}"] = f"{self.name}: {stream['order']}"
        return parts

    def terminator(self, endpoint: str) -> str | None:
        """Returns the data of the event that terminates the endpoint's streams, such as [DONE]; None without one."""
        terminator: str | None = self._head["stream"][endpoint]["terminator"]
        return terminator

    @property
    def unknown_fields(self) -> str:
        """Returns how the system handles unknown request fields: `ignored` or `refused`."""
        return str(self._head["unknown_fields"])

    @property
    def names_fields(self) -> bool:
        """Whether `param` of an error names the invalid field; otherwise `param` is null or absent."""
        return bool(self._answers.get("error_param", True))

    @property
    def has_unique_ids(self) -> bool:
        """Whether each answer has its own id."""
        return bool(self._answers.get("unique_ids", True))

    @property
    def has_reliable_calls(self) -> bool:
        """Whether tool calls name existing tools, and forced calls have valid arguments; otherwise this holds for
        strict tools only."""
        return bool(self._answers.get("reliable_calls", True))

    @property
    def specifies_role_chunks(self) -> bool:
        """Whether the document specifies which chunks of a stream have the role."""
        return self._answers.get("role_chunks") != "unspecified"

    @property
    def echoes_logprobs(self) -> bool:
        """Whether logprobs with `echo` include the prompt's tokens."""
        return bool(self._answers.get("echoed_logprobs", True))

    def text_length(self, text: str) -> int:
        """Returns the length of a text in the unit of `text_offset`: characters, or UTF-8 bytes."""
        return len(text.encode() if self._answers.get("text_offset") == "bytes" else text)

    def logprob_text(self, text: str) -> str:
        """Returns a token's text as logprobs contain it: unchanged, or reduced to printable ASCII without spaces."""
        if self._answers.get("logprob_tokens") != "printable ascii":
            return text
        return "".join(character for character in text if "!" <= character <= "~")

    def withheld_tokens(self, endpoint: str | None) -> int:
        """Returns by how many tokens an answer of the endpoint can fall short of its token limit."""
        return int(self._answers.get("withheld_tokens", {}).get(endpoint, 0))

    def validator(self, schema: dict[str, Any]) -> Validator:
        """Returns the cached validator of a schema of the document."""
        return self._validators.of(schema)


@lru_cache(maxsize=1)
def _components(dialect: Dialect) -> dict[str, set[str]]:
    """Returns the titles of the schemas that each operation refers to. Copies of a component for one endpoint keep its
    title."""
    schemas = dialect.document["components"]["schemas"]
    return {
        endpoint: {schemas[name].get("title", name) for name in reached(dialect.document, operation.definition)}
        for endpoint, operation in dialect.operations.items()
    }


@cache
def own_dialect() -> Dialect:
    """Returns the dialect of our complete document."""
    return Dialect(WHOLE)
