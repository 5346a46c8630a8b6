"""Requests of another system: validated by its schema and converted to ours, with its defaults for `model` and
`suffix`."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import cache
from typing import Any

from specvino.document.conditions import Condition, value_at
from specvino.document.loading import validators, whole
from specvino.document.operations import Operation, Schema
from specvino.document.pointers import at, resolved, schema_reference
from specvino.document.unions import values
from specvino.document.validator import Validators
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import Reply
from specvino.handlers.errors import ApiError
from specvino.handlers.models import unknown_model
from specvino.server.dialect.unread import Inner, Unread, with_our_parts, with_our_roles
from specvino.server.dialect.usable import Usable
from specvino.server.validation.schema import SchemaCheck


class Requests:
    """A reader of the bodies of one operation.

    `names` are those of the served models; with `any_model`, every unknown name means the first of them, and with
    `model_first`, an unknown one is an error before all others. A body that doesn't match the schema `as_json`, or has
    more than `deepest` objects and lists in each other, is refused as if it were no JSON. `unread` are the entries of
    the head for this endpoint; `other_roles` has, by the title of our schema of messages, the role that replaces those
    that the schema doesn't have. With `drops_unmatched_choice`, a choice of a tool that the request doesn't have
    removes all tools. A body that meets one of the system's `conditions` is refused; `facts` are those about the server
    with a model. With `input_optional`, an empty or absent input is an empty list. With `summarizes`, reasoning is
    always returned as a summary. With `appends_suffix`, a suffix is appended to the text instead of being shown to the
    model.
    """

    def __init__(
        self,
        operation: Operation,
        ours: str,
        names: tuple[str, ...],
        theirs: Validators,
        *,
        any_model: bool,
        as_json: Schema | None,
        deepest: int | None = None,
        model_first: bool = False,
        unread: Sequence[Mapping[str, Any]] = (),
        other_roles: Mapping[str, str],
        drops_unmatched_choice: bool = False,
        conditions: Iterable[Condition] = (),
        facts: Callable[[str], Mapping[str, Any]] = lambda _: {},
        input_optional: bool,
        summarizes: bool,
        appends_suffix: bool = False,
    ) -> None:
        self._check = SchemaCheck(operation.body or {}, theirs)
        self._names = names
        self._any_model = any_model
        self._deepest = deepest
        self._model_first = model_first
        self._unread = Unread(unread, theirs)
        self._inner = Inner(theirs)
        self._drops_unmatched_choice = drops_unmatched_choice
        self._conditions = tuple(conditions)
        self._facts = facts
        self._input_optional = input_optional
        self._summarizes = summarizes
        self._appends_suffix = appends_suffix
        pointer = schema_reference(ours).removeprefix("#")
        self._takes_null = _nullable(pointer)
        component = schema_reference(operation.body_component or "").removeprefix("#")
        self._theirs = properties = at(theirs.document, component)["properties"]
        defaults = {name: field["default"] for name, field in properties.items() if "default" in field}
        self._usable = Usable(ours, defaults)
        self._default = defaults.get("model")
        self._reads_model = "model" in properties
        our_properties = at(whole(), pointer)["properties"]
        self._ignored = our_properties.keys() - properties.keys()
        self._parsed = None if as_json is None else _parsed(as_json, properties)
        self._switches = _switches(properties, our_properties)
        message = resolved(whole(), our_properties.get("messages", {}).get("items", {}))
        self._other_role = other_roles.get(message.get("title", ""))
        self._roles = _roles(message) if self._other_role else ()

    def suffix(self, body: Any) -> str:
        """Returns the suffix to append to each text of the response; an empty string if there is none."""
        return (body.get("suffix") or "") if self._appends_suffix else ""

    def read(self, body: Any) -> Any:
        """Returns the body in this server's form. Raises ApiError for one that the system rejects."""
        if self._deepest is not None and _is_deeper(body, self._deepest):
            raise ApiError(ErrorCode.INVALID_JSON, f"The request body is nested more than {self._deepest} levels deep.")
        if self._parsed is not None:
            try:
                self._parsed.require(body)
            except ApiError as error:
                raise ApiError(ErrorCode.INVALID_JSON, error.message, param=error.param) from None
        if self._model_first and isinstance(body, Mapping) and body.get("model") not in self._names:
            raise unknown_model(str(body.get("model")), self._names)
        body = self._unread.without(body)
        self._check.require(body)
        self._require_supported(body)
        if not isinstance(body, Mapping):
            return body
        present = {
            name: self._inner.read(self._theirs[name], value) if name in self._theirs else value
            for name, value in body.items()
            if name not in self._ignored and (value is not None or name in self._takes_null)
        }
        read = self._switches | present
        if self._other_role and isinstance(read.get("messages"), list):
            read["messages"] = with_our_roles(read["messages"], self._roles, self._other_role)
        if isinstance(read.get("input"), list):
            read["input"] = with_our_parts(read["input"])
        model = read.get("model")
        unnamed = model is None or model == self._default or (self._any_model and model not in self._names)
        if unnamed or not self._reads_model:
            read["model"] = self._names[0]
        elif not model:
            raise unknown_model(str(model), self._names)
        if self._input_optional and not read.get("input"):
            read["input"] = []
        if self._drops_unmatched_choice and not has_chosen(read):
            read = {name: value for name, value in read.items() if name not in ("tools", "tool_choice")}
        if self._summarizes:
            read["reasoning"] = {**(read.get("reasoning") or {}), "summary": "auto"}
        if self._appends_suffix:
            read.pop("suffix", None)
        return read

    def usable(self, body: Any) -> tuple[Any, list[str]]:
        """Returns the part of a body that this server can use, and the names of the fields of which something is
        missing. `body` is in this server's form."""
        return self._usable.of(body)

    def _require_supported(self, body: Any) -> None:
        if not self._conditions:
            return
        facts = self._facts(body["model"] if body.get("model") in self._names else self._names[0])
        for condition in self._conditions:
            if refusal := condition.refusal(lambda path: value_at(body, path), facts):
                raise ApiError(ErrorCode(refusal.code), refusal.message, param=refusal.param)


def has_chosen(body: Mapping[str, Any]) -> bool:
    """Returns whether a request has the tools that its tool_choice requires: any, or the named one."""
    choice, tools = body.get("tool_choice"), body.get("tools") or ()
    if isinstance(choice, Mapping):
        named = (choice.get("function") or choice).get("name")
        return named in {(tool.get("function") or tool).get("name") for tool in tools}
    return choice != "required" or bool(tools)


def _is_deeper(value: Any, most: int) -> bool:
    """Returns whether there are more than `most` objects and lists in each other."""
    level = [value]
    for _ in range(most + 1):
        level = [child for child in level if isinstance(child, (dict, list))]
        if not level:
            return False
        level = [inner for child in level for inner in (child.values() if isinstance(child, dict) else child)]
    return True


def _parsed(schema: Schema, theirs: Schema) -> SchemaCheck:
    """Returns the check of what a system reads of an operation's bodies as it parses them."""
    properties = {name: child for name, child in schema.get("properties", {}).items() if name in theirs}
    return SchemaCheck({**schema, "properties": properties}, Validators({"components": {}}))


def _switches(theirs: Schema, ours: Schema) -> dict[str, bool]:
    """Returns the boolean fields whose default in the system differs from ours, with the system's default."""
    defaults = {
        name: (field.get("default"), ours[name].get("default")) for name, field in theirs.items() if name in ours
    }
    switches = {name: pair for name, pair in defaults.items() if all(isinstance(value, bool) for value in pair)}
    return {name: default for name, (default, other) in switches.items() if default != other}


def _roles(message: Schema) -> Collection[str]:
    """Returns the roles of a schema of messages: a union of them, or one object for all."""
    if "discriminator" not in message:
        return values(message["properties"]["role"]) or ()
    branches: Mapping[str, str] = message["discriminator"]["mapping"]
    return branches.keys()


@cache
def _nullable(pointer: str) -> frozenset[str]:
    """Returns the fields of a body of ours that may be null."""
    properties = at(whole(), pointer)["properties"]
    return frozenset(
        name
        for name, schema in properties.items()
        if None in (values(schema) or ()) or validators().at(f"{pointer}/properties/{name}").fits(None)
    )


def appended(reply: Reply[Any], suffix: str) -> Reply[Any]:
    """Returns the reply with the suffix appended to each text, as MLC-LLM does. In a stream it is an extra chunk at the
    end, which repeats the finish reasons."""
    if isinstance(reply.body, AsyncGenerator):
        return replace(reply, body=_with_last_chunk(reply.body, suffix))
    for choice in reply.body["choices"]:
        choice["text"] += suffix
    return reply


async def _with_last_chunk(chunks: AsyncGenerator[Any], suffix: str) -> AsyncGenerator[Any]:
    reasons: dict[int, str] = {}
    async with aclosing(chunks):
        async for chunk in chunks:
            reasons |= {part["index"]: part["finish_reason"] for part in chunk["choices"] if part["finish_reason"]}
            yield chunk
    choices = [
        {"index": index, "text": suffix, "logprobs": None, "finish_reason": reason}
        for index, reason in sorted(reasons.items())
    ]
    yield {**chunk, "choices": choices, "usage": None}
