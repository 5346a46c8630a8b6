"""A system to emulate: its document, prepared for serving."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from time import time
from typing import Any
from uuid import uuid4

from specvino.document.conditions import Condition
from specvino.document.loading import dialect_file, load
from specvino.document.operations import JSON, Operation, base_paths, operations
from specvino.document.pointers import schema_reference
from specvino.document.validator import Validators
from specvino.document.walk import reached
from specvino.engine.protocol import Engine
from specvino.generated import handlers
from specvino.handlers.errors import ApiError
from specvino.handlers.limits import Limits
from specvino.server.dialect import errors
from specvino.server.dialect.requests import Requests
from specvino.server.dialect.shapes import ABSENT, Fit, Shapes


@dataclass(frozen=True, slots=True)
class ExtraPath:
    """An operation of ours at an extra path of the system, including the base path.

    With `by_status`, the response is only a status: 200, or this one for errors. With `by_model`, it is an object with
    this value for each model's name. Neither requires a key. With `answer`, it is this template, filled in for a model,
    or the list of those for all models, under the name `listed_as`. A model's name may end in `tag`.
    """

    method: str
    path: str
    operation: str
    by_status: int | None = None
    by_model: Mapping[str, Any] | None = None
    answer: Mapping[str, Any] | None = None
    listed_as: str | None = None
    tag: str = ""

    @property
    def id(self) -> str:
        """The operation's ID at this path."""
        return f"{self.method} {self.path}"


# What may be stated of an extra path's responses.
FORMS = ("by_status", "by_model", "answer", "listed_as", "tag")


def extra_paths(head: Mapping[str, Any]) -> Iterator[ExtraPath]:
    """Yields the extra paths in the head of a system's document (`other_operations`)."""
    by_endpoint = {operation.endpoint: operation.id for operation in handlers.OPERATIONS.values()}
    for other in head.get("other_operations", ()):
        if "served_by" not in other:
            continue
        for path in other["path"].split(", "):
            for method in other["method"].split(", "):
                forms = {form: other[form] for form in FORMS if form in other}
                yield ExtraPath(method, path, by_endpoint[other["served_by"]], **forms)


# The title of the event that follows the first one in our streams of background responses.
QUEUED = "ResponseQueuedEvent"

REASONING = "OutputReasoning"


class System:
    """The system `name`, one of `document.loading.dialects()`.

    `names` are those of the served models; they are `named` if the operator chose them. `computed` is as in `Shapes`.
    `facts` returns the facts about the server with a model, on which the system's conditions depend.
    """

    def __init__(
        self,
        name: str,
        names: tuple[str, ...],
        computed: Mapping[str, Mapping[str, Fit]],
        *,
        named: bool = True,
        facts: Callable[[str], Mapping[str, Any]] = lambda _: {},
    ) -> None:
        self.name = name
        self.document = load(dialect_file(name))
        self._head: dict[str, Any] = self.document["x-dialect"]
        self._names = names
        self._facts = facts
        self._any_model = not named and self._head.get("any_model_unless_named", False)
        self._shapes = Shapes(self.document, computed)
        self._validators = Validators(self.document)
        self._operations = {operation.id: operation for operation in operations(self.document)}
        self._fits: dict[tuple[str, str], Fit] = {}

    @property
    def port(self) -> int | None:
        """The system's default port; None if it is a hosted service."""
        return self._head.get("port")

    @property
    def version(self) -> str:
        """The version of the system, without a `v` before it."""
        return str(self._head["version"]["name"]).removeprefix("v")

    @cached_property
    def base_paths(self) -> tuple[str, ...]:
        """The base paths of the system's operations."""
        return base_paths(self.document)

    @cached_property
    def extra_paths(self) -> tuple[ExtraPath, ...]:
        """The extra paths at which the system has operations of ours."""
        return tuple(extra_paths(self._head))

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts that the system answers with, by path, such as Ollama's at the root."""
        return {other["path"]: other["text"] for other in self._head.get("other_operations", ()) if "text" in other}

    @property
    def refuses_unmatched_calls(self) -> bool:
        """Whether a call without a result, or a result without a call, is an error."""
        return self._head.get("unmatched_calls") == "refused"

    @property
    def ignores_unusable_formats(self) -> bool:
        """Whether an answer isn't constrained at all, if its response_format can't be used."""
        return self._head.get("unusable_formats") == "ignored"

    @property
    def has_exact_scheme(self) -> bool:
        """Whether the scheme of keys must be written `Bearer`."""
        return bool(self._head.get("exact_scheme"))

    @property
    def preflight(self) -> dict[str, str] | None:
        """The headers of answers to OPTIONS at any path; None if the system doesn't answer these."""
        return self._head.get("preflight")

    @property
    def answers_empty_input(self) -> bool:
        """Whether a response without any input item is an empty message, not an error."""
        return self._head.get("empty_input") == "answered"

    @property
    def limits_by_context(self) -> bool:
        """Whether an answer with a token limit beyond the context ends where the context does."""
        return self._head.get("beyond_context") == "limited"

    def has(self, operation_id: str) -> bool:
        return operation_id in self._operations

    def at_root(self, operation_id: str) -> bool:
        """Returns whether the system has an operation at the root instead of under its base paths."""
        return self.has(operation_id) and self._operations[operation_id].is_only_at_root

    def is_open(self, operation_id: str) -> bool:
        """Returns whether an operation of the system requires no key even if others do. One with a body always requires
        one here, although vLLM's /tokenize doesn't: clients without a key would take time from those with one.
        """
        operation = self._operations.get(operation_id)
        return operation is not None and operation.definition.get("security") == [] and operation.body is None

    def reads_any_type(self, operation_id: str) -> bool:
        """Returns whether the system reads an operation's bodies as JSON whatever their content type is."""
        own = self._operations.get(operation_id)
        return own is not None and self._statuses(own.endpoint)["media_type"] is None

    def requests(self, operation: handlers.Operation) -> Requests | None:
        """Returns the reader of an operation's bodies; None if it has no body."""
        own = self._operations.get(operation.id)
        if own is None or own.body is None or operation.body is None:
            return None
        any_model = self._any_model or self._statuses(own.endpoint)["unknown_model"] is None
        return Requests(
            own,
            operation.body,
            self._names,
            self._validators,
            any_model=any_model,
            as_json=self._head["errors"].get("as_json"),
            deepest=self._head["errors"].get("deepest"),
            model_first=self._head["errors"].get("model_first", False),
            unread=self._head.get("unread", {}).get(own.endpoint, ()),
            other_roles=self._head.get("other_roles", {}),
            conditions=[
                Condition(name, entry)
                for name, entry in self._head.get("conditions", {}).items()
                if own.endpoint in entry["endpoints"]
            ],
            facts=self._facts,
            drops_unmatched_choice=self._head.get("unmatched_choice") == "ignored",
            input_optional=own.endpoint == "responses" and self.answers_empty_input,
            summarizes=own.endpoint == "responses" and self._summarizes(),
            appends_suffix=own.endpoint == "completions" and self._head.get("appends_suffix", False),
        )

    def answer(self, operation_id: str, body: Any) -> Any:
        """Converts a response of ours to the system's."""
        own = self._operations.get(operation_id)
        if own is None or JSON not in own.content():
            return body
        return self._fit(own, "answer", own.content()[JSON]["schema"])(body)

    def event(self, operation_id: str) -> Fit:
        """Returns a converter for the events of one stream, starting with its first. It returns ABSENT for events that
        the system doesn't have."""
        own = self._operations[operation_id]
        fit, first = self._fit(own, "event", own.event or {}), self._stream(own).get("first", 0)
        left_out: int | None = None
        ids: dict[str, str] = {}

        def event(value: dict[str, Any]) -> Any:
            nonlocal left_out
            if left_out is None:
                # A background stream that resumes after an event: one may have been dropped before it.
                left_out = int(value.get("sequence_number", 0) > 1 and not self._queues(own))
            theirs = fit(value)
            if theirs is not ABSENT and "item" in theirs:
                ids[value["item"]["id"]] = theirs["item"]["id"]
            elif theirs is not ABSENT and "item_id" in theirs:
                theirs["item_id"] = ids.get(value["item_id"], value["item_id"])
            if theirs is ABSENT and value["type"] == "response.incomplete":
                theirs = fit({**value, "type": "response.completed"})
            if theirs is ABSENT:
                left_out += 1
            elif "sequence_number" in theirs:
                theirs["sequence_number"] += first - left_out
            return theirs

        return event

    def arguments(self, operation_id: str, query: dict[str, Any]) -> dict[str, Any]:
        """Returns the query parameters that the system has, with event numbers as this server counts them."""
        own = self._operations.get(operation_id)
        if own is None:
            return query
        read = {parameter["name"] for parameter in own.parameters}
        query = {name: value for name, value in query.items() if name in read}
        if not isinstance(query.get("starting_after"), int):
            return query
        last = query["starting_after"] - self._stream(own).get("first", 0)
        return {**query, "starting_after": last + int(last > 0 and not self._queues(own))}

    def streaming(self, operation: handlers.Operation) -> handlers.Operation:
        """Returns an operation of ours with the framing and the terminator of the system's streams."""
        own = self._operations.get(operation.id)
        stream = self._stream(own) if own else {}
        return replace(operation, framing=stream["framing"], terminator=stream["terminator"]) if stream else operation

    def tells_errors_in_streams(self, operation_id: str) -> bool:
        """Returns whether an error in a stream is sent as an event; otherwise the stream just ends."""
        own = self._operations.get(operation_id)
        return own is None or self._stream(own).get("error") != "none"

    def error(
        self, operation_id: str | None, error: ApiError, request_id: str, method: str | None = None
    ) -> tuple[int, str, bytes]:
        """Returns the status, the media type and the body of an error in the system's format. `method` is that of the
        request."""
        own = self._operations.get(operation_id or "")
        endpoint = own.endpoint if own else None
        head = self._head["errors"]
        status = errors.status_of(head, endpoint, error, method)

        def fit(body: Any) -> Any:
            return self._error(body, status)

        return (status, *errors.body_of(head, endpoint, error, status, fit, request_id))

    def _error(self, body: Any, status: int) -> Any:
        """Converts an error object of ours to the system's, where the code may be the status."""
        if "Error" not in self.document["components"]["schemas"]:
            return body
        code = self._validators.at(f"{schema_reference('Error').removeprefix('#')}/properties/code")
        error = body["error"]
        fitting = next((value for value in (error["code"], status, None) if code.fits(value)), error["code"])
        return self._shapes.of({"$ref": schema_reference("ErrorResponse")})({"error": {**error, "code": fitting}})

    def _fit(self, own: Operation, kind: str, schema: Any) -> Fit:
        key = (own.id, kind)
        if key not in self._fits:
            self._fits[key] = self._shapes.of(schema)
        return self._fits[key]

    def _queues(self, own: Operation) -> bool:
        """Returns whether the system's streams have the event that a response is queued, which is our second one."""
        names = reached(self.document, own.event or {})
        return any(self.document["components"]["schemas"][name].get("title") == QUEUED for name in names)

    def _summarizes(self) -> bool:
        """Returns whether reasoning in the system's output has only a summary."""
        schemas = self.document["components"]["schemas"].values()
        return any(schema.get("title") == REASONING and "content" not in schema["properties"] for schema in schemas)

    def _stream(self, own: Operation) -> dict[str, Any]:
        stream: dict[str, Any] = self._head.get("stream", {}).get(own.endpoint, {})
        return stream

    def _statuses(self, endpoint: str) -> dict[str, Any]:
        errors = self._head["errors"]
        statuses: dict[str, Any] = errors["statuses"] | errors.get("at", {}).get(endpoint, {})
        return statuses


def speaker(name: str, engines: Mapping[str, Engine], limits: Limits, *, named: bool) -> System:
    """Returns the system to emulate; `engines` are keyed by all names of their models, which are `named` if the
    operator chose them."""

    def facts(model: str) -> Mapping[str, Any]:
        return limits.facts_with(engines[model].model)

    return System(name, tuple(engines), _COMPUTED, named=named, facts=facts)


def _text(answer: dict[str, Any]) -> str:
    """Returns the detokenized text, which has a different name in each system."""
    text: str = answer["prompt"]
    return text


def _chosen_alone(logprobs: dict[str, Any]) -> list[dict[str, float]]:
    """Returns `top_logprobs` for a request without any: systems that always have them show the chosen token."""
    chosen = zip(logprobs["tokens"], logprobs["token_logprobs"], strict=True)
    return [{} if logprob is None else {token: logprob} for token, logprob in chosen]


# Fields that only the server knows, by component and name, each as a function of the object it is in.
_COMPUTED: Mapping[str, Mapping[str, Callable[[Any], Any]]] = {
    "Model": {"root": lambda model: model["id"]},
    "ModelPermission": {"id": lambda _: f"modelperm-{uuid4().hex}", "created": lambda _: int(time())},
    "DetokenizeResponse": {"text": _text, "content": _text},
    "CompletionLogprobs": {"top_logprobs": _chosen_alone},
}
