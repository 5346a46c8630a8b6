"""Reading a request as another system does: by its schema, with a model that may be left out, and a suffix that the
model doesn't see."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from specvino.document.loading import whole
from specvino.document.operations import Operation, Schema
from specvino.document.pointers import at, schema_reference
from specvino.document.unions import values
from specvino.document.validator import Validators
from specvino.generated.handlers import Reply
from specvino.server.validation.schema import SchemaCheck


class Requests:
    """Reads the bodies of one operation. `names` are those of the served models; with `any_model` the first of them
    answers to every other name. With `summarizes` reasoning is always told as a summary; with `appends_suffix` a suffix
    is none that the model sees."""

    def __init__(
        self,
        operation: Operation,
        ours: str,
        names: tuple[str, ...],
        document: Schema,
        *,
        any_model: bool,
        summarizes: bool,
        appends_suffix: bool = False,
    ) -> None:
        self._check = SchemaCheck(operation.body or {}, document)
        self._names = names
        self._any_model = any_model
        self._summarizes = summarizes
        self._appends_suffix = appends_suffix
        pointer = schema_reference(ours).removeprefix("#")
        self._takes_null = _nullable(pointer)
        theirs = at(document, schema_reference(operation.body_component or "").removeprefix("#"))["properties"]
        self._default = theirs.get("model", {}).get("default")
        self._reads_model = "model" in theirs
        self._switches = _switches(theirs, at(whole(), pointer)["properties"])

    def suffix(self, body: Any) -> str:
        """Returns what is to stand behind each text of the answer to a valid body, though the model doesn't see it."""
        return (body.get("suffix") or "") if self._appends_suffix else ""

    def read(self, body: Any) -> Any:
        """Returns the body as this server reads it. Raises ApiError for one that the system refuses."""
        self._check.require(body)
        if not isinstance(body, Mapping):
            return body
        given = {name: value for name, value in body.items() if value is not None or name in self._takes_null}
        read = self._switches | given
        model = read.get("model")
        unnamed = model is None or model == self._default or (self._any_model and model not in self._names)
        if unnamed or not self._reads_model:
            read["model"] = self._names[0]
        if self._summarizes:
            read["reasoning"] = {**(read.get("reasoning") or {}), "summary": "auto"}
        if self._appends_suffix:
            read.pop("suffix", None)
        return read


def _switches(theirs: Schema, ours: Schema) -> dict[str, bool]:
    """Returns the switches that the system turns the other way where a request doesn't say."""
    said = {name: (each.get("default"), ours[name].get("default")) for name, each in theirs.items() if name in ours}
    switches = {name: pair for name, pair in said.items() if all(isinstance(value, bool) for value in pair)}
    return {name: default for name, (default, other) in switches.items() if default != other}


def _nullable(pointer: str) -> frozenset[str]:
    """Returns the members of a body of ours that may be null."""
    validators = Validators(whole())
    properties = at(whole(), pointer)["properties"]
    return frozenset(
        name
        for name, schema in properties.items()
        if None in (values(schema) or ()) or validators.at(f"{pointer}/properties/{name}").fits(None)
    )


def appended(reply: Reply[Any], suffix: str) -> Reply[Any]:
    """Returns the reply with the suffix behind each text: in a stream as a chunk of its own behind all others, which
    tells the reasons of the ends again."""
    if isinstance(reply.body, AsyncGenerator):
        return replace(reply, body=_with_last_chunk(reply.body, suffix))
    for choice in reply.body["choices"]:
        choice["text"] += suffix
    return reply


async def _with_last_chunk(chunks: AsyncGenerator[Any], suffix: str) -> AsyncGenerator[Any]:
    reasons: dict[int, str] = {}
    async with aclosing(chunks):
        async for chunk in chunks:
            reasons |= {each["index"]: each["finish_reason"] for each in chunk["choices"] if each["finish_reason"]}
            yield chunk
    choices = [
        {"index": index, "text": suffix, "logprobs": None, "finish_reason": reason}
        for index, reason in sorted(reasons.items())
    ]
    yield {**chunk, "choices": choices, "usage": None}
