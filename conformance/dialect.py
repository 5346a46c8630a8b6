"""The document of a system, which a server is tested against: its answers, events, errors and levels of support."""

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

# The document itself, with every field that this project supports.
WHOLE = "specvino"

NAMES = (*systems(), WHOLE)

# What a request is refused for.
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

# The components of errors, by the envelopes that dialects name; a text is no JSON.
ENVELOPES = {
    "openai": "ErrorResponse",
    "flat": "FlatError",
    "string": "ErrorText",
    "detail": "ErrorDetail",
    "json text": "ErrorInText",
}

# Levels at which nothing can be asked of a system.
LEFT_OUT = ("ignored", "refused", "absent", "unknown")


class Dialect:
    """Reads the document of the system `name`, one of NAMES. Raises ValueError for others."""

    def __init__(self, name: str) -> None:
        if name not in NAMES:
            raise ValueError(f"there is no dialect {name!r}; there are {', '.join(NAMES)}")
        self.name = name
        self.document = whole() if name == WHOLE else load(dialect_file(name))
        self._head: dict[str, Any] = self.document.get("x-dialect", {})
        self.operations = by_endpoint(self.document)
        """By endpoint: chat, completions, responses, response, models, …"""

    @cached_property
    def digest(self) -> str:
        """Returns the digest that names this very document in a report."""
        import hashlib

        return hashlib.sha256(json.dumps(self.document, sort_keys=True).encode()).hexdigest()[:16]

    @cached_property
    def _validators(self) -> Validators:
        return Validators(self.document)

    def level(self, pointer: str, endpoint: str) -> str:
        """Returns how the system supports what a JSON pointer into the whole document leads to, as a field of
        `endpoint`: `full` for what has no level of its own, `absent` for an operation, a base path or a kind of object
        that the system hasn't, and for what is always null. Raises KeyError for a pointer that leads nowhere."""
        if self.name != WHOLE and "/x-" in pointer:
            pointer = pointer[: pointer.index("/x-")]  # what is marked of a field is asked for where the field is
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
                said = levels[self.name]
                if isinstance(said, Mapping) and said.get("schema") == {"type": "null"}:
                    return "absent"
                return str(said if isinstance(said, str) else said["level"])
        return "absent" if self._has_no_such_object(pointer, endpoint) else "full"

    def _has_no_such_object(self, pointer: str, endpoint: str) -> bool:
        """Tells whether the pointer leads into a component for objects to which nothing of the endpoint leads in the
        system's document. (Other components are but names for values, which may be written out there.)"""
        steps = pointer.split("/")
        if steps[1:3] != ["components", "schemas"] or endpoint not in self.operations:
            return False
        name = unescape(steps[3])
        is_object = "object" in whole()["components"]["schemas"][name].get("type", ())
        return is_object and name not in self._components[endpoint]

    @cached_property
    def _components(self) -> dict[str, set[str]]:
        """Returns the titles of the schemas to which something in an operation leads, by endpoint: copies of a
        component, each for what the system has of it somewhere, have its title."""
        schemas = self.document["components"]["schemas"]
        return {
            endpoint: {schemas[name].get("title", name) for name in reached(self.document, operation.definition)}
            for endpoint, operation in self.operations.items()
        }

    def has_property(self, component: str, name: str) -> bool:
        """Tells whether objects of that component have a property that can be something else than null."""
        found = self.document["components"]["schemas"][component]["properties"].get(name)
        return found is not None and found.get("type") != "null"

    def requires(self, component: str, name: str) -> bool:
        """Tells whether objects of that component always have a property."""
        return name in self.document["components"]["schemas"][component].get("required", ())

    def always_has(self, endpoint: str, name: str) -> bool:
        """Tells whether each JSON answer of an operation has a member."""
        content = self.operations[endpoint].content("200").get(JSON, {}) if endpoint in self.operations else {}
        return name in resolved(self.document, content.get("schema", {})).get("required", ())

    @cached_property
    def members(self) -> frozenset[str]:
        """Returns the names of all members of objects that the system's document has."""
        return frozenset(name for _, schema in all_schemas(self.document) for name in schema.get("properties", ()))

    def takes(self, endpoint: str, body: Any) -> bool | None:
        """Tells whether the system's document finds a body valid; None where the endpoint takes no body."""
        operation = self.operations.get(endpoint)
        if operation is None or operation.body is None:
            return None
        return self.shape(operation.body).fits(body)

    def alone_refuses(self, endpoint: str, body: Any) -> bool:
        """Tells whether the system's document finds a body invalid that the whole document finds valid."""
        return self.takes(endpoint, body) is False and bool(_whole().takes(endpoint, body))

    def statuses(self, kind: Kind, endpoint: str) -> tuple[int, ...] | None:
        """Returns the statuses with which the system refuses such a request; None where nobody knows."""
        if self.name == WHOLE:
            return (ERRORS[CODES[kind]].status,)
        said = self._head["errors"]
        found = said["statuses"] | said.get("at", {}).get(endpoint, {})
        status = found.get(kind)
        if isinstance(status, int):
            return (status,)
        return tuple(status) if isinstance(status, list) else None

    def answer(self, endpoint: str, status: int, media: str) -> Validator | None:
        """Returns what an answer of this status and media type must be like; None where the document has no such
        answer."""
        content = self.operations[endpoint].content(str(status)).get(media)
        return None if content is None else self.shape(content.get("schema", {}))

    def error(self, endpoint: str | None, status: int) -> Validator | None:
        """Returns what an error of this status must be like as JSON: what the operation says, else what the system's
        errors are like wherever they come from; None where such an error is no JSON, or nobody knows."""
        operation = self.operations.get(endpoint or "")
        if operation is not None and str(status) in operation.definition["responses"]:
            content = operation.content(str(status)).get(JSON)
            return None if content is None else self.shape(content["schema"])
        said = self._head.get("errors", {"envelope": "openai"})
        unrouted = operation is None and status in (self.statuses("unknown_route", "") or ())
        own = unrouted and "unknown_route" in said.get("envelopes", {})
        name = ENVELOPES.get(envelope_of(said, endpoint, "unknown_route" if own else status), "")
        return self.shape({"$ref": schema_reference(name)}) if name in self.document["components"]["schemas"] else None

    def event(self, endpoint: str, value: Any = None) -> Validator | None:
        """Returns what the data of an event must be like as JSON; None where the endpoint has no streams. Where `value`
        can't be meant as an error, since it has no such member, it is held against the other events alone."""
        schema = self.operations[endpoint].event
        if schema is None:
            return None
        schema = resolved(self.document, schema)
        branches = schema.get("anyOf", ())
        others = [each for each in branches if "error" not in resolved(self.document, each).get("required", ())]
        if isinstance(value, Mapping) and "error" not in value and 0 < len(others) < len(branches):
            return self.shape(others[0] if len(others) == 1 else {**schema, "anyOf": others})
        return self.shape(schema)

    def documented(self, endpoint: str) -> frozenset[int]:
        """Returns the statuses that the document lists."""
        return frozenset(int(status) for status in self.operations[endpoint].definition["responses"])

    def stream(self, endpoint: str) -> Stream | None:
        """Returns the table of the endpoint's streams; None where the system's streams break it."""
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
            machines=tuple(
                _narrowed(each, found["machines"][each.name])
                for each in table.machines
                if each.name in found["machines"]
            ),
            laws=tuple(
                _adapted(law, laws[_name(law)])
                for law in table.laws
                if _name(law) in laws and getattr(law, "of", None) in (None, *found["machines"])
            ),
            silent=found.get("silent", False),
        )

    @cached_property
    def unjudged(self) -> dict[str, str]:
        """Returns what of the order of streams can't be checked, by names like those of rules, with the reason."""
        found = {}
        for endpoint, said in self._head.get("stream", {}).items():
            if "order" in said and "breaks" not in said:
                found[f"{endpoint}/rules/stream-order"] = f"{self.name}: {said['order']}"
            for word in said.get("breaks", ()):
                found[f"{endpoint}/rules/stream-order/{word}"] = f"{self.name}: {said['order']}"
        return found

    def terminator(self, endpoint: str) -> str | None:
        """Returns the text that ends the endpoint's streams, which is no event."""
        if self.name == WHOLE:
            return STREAMS[endpoint].terminator
        said: str | None = self._head["stream"][endpoint]["terminator"]
        return said

    @property
    def unknown_fields(self) -> str:
        """Returns what becomes of fields that the document doesn't know: `ignored` or `refused`."""
        return "ignored" if self.name == WHOLE else str(self._head["unknown_fields"])

    @property
    def names_fields(self) -> bool:
        """Tells whether a refusal says in `param` which field is wrong: others leave it null, or have no such place."""
        return self.name in ("openai", WHOLE)

    @property
    def echoes_logprobs(self) -> bool:
        """Tells whether logprobs are of an echo, too: two systems have those of the answer alone."""
        return self.name not in ("mlc-llm", "fastdeploy")

    def kept_back(self, endpoint: str | None) -> int:
        """Returns how many tokens an answer has less than its limit allows: SGLang takes two off that of a response."""
        return 2 if self.name == "sglang" and endpoint == "responses" else 0

    @property
    def gives_unique_ids(self) -> bool:
        """Tells whether no two answers have one id: OVMS makes them of the second of the request, Ollama draws one of
        999."""
        return self.name not in ("ovms", "ollama")

    def shown(self, text: str) -> str:
        """Returns what logprobs show of a text: MLC-LLM leaves out spaces and what isn't ASCII."""
        return "".join(each for each in text if "!" <= each <= "~") if self.name == "mlc-llm" else text

    def shape(self, schema: dict[str, Any]) -> Validator:
        """Returns the validator of a schema of the document. Each is compiled once."""
        return self._validators.of(schema)


@cache
def _whole() -> Dialect:
    return Dialect(WHOLE)


def _narrowed(machine: Machine, said: Mapping[str, Any]) -> Machine:
    body, end = tuple(said.get("body", ())), tuple(said.get("end", ()))
    return replace(machine, open=said.get("open"), body=body, end=end)


def _adapted(law: Law, said: Mapping[str, Any]) -> Law:
    if isinstance(law, Consecutive):
        return replace(law, start=said["from"])
    return replace(law, fields=tuple(said["fields"])) if isinstance(law, Constant) else law


def _name(law: Law) -> str:
    """Returns a law's name as the document has it: `one fact` of OneFact."""
    return re.sub("(?<!^)([A-Z])", r" \1", type(law).__name__).lower()
