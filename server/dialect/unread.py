"""The fields that a system doesn't read: they are removed before this server reads a body."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from specvino.document.loading import validators, whole
from specvino.document.operations import Schema
from specvino.document.pointers import resolved
from specvino.document.validator import Validator, Validators
from specvino.document.walk import all_schemas


class Unread:
    """The entries under `unread` in the head of a system's document, for one endpoint. They are applied in order,
    before the body is validated.
    """

    def __init__(self, entries: Sequence[Mapping[str, Any]], theirs: Validators) -> None:
        self._entries = [(entry, theirs.of(entry["if"])) for entry in entries]

    def without(self, body: Any) -> Any:
        """Returns the body without fields that aren't read, or with what is read in their place."""
        for entry, condition in self._entries:
            body = _without(body, entry["field"].split("."), entry, condition)
        return body


def _without(value: Any, path: Sequence[str], entry: Mapping[str, Any], condition: Validator) -> Any:
    if not isinstance(value, Mapping):
        return value
    name, *inner = path
    if not inner:
        if not condition.fits(value):
            return value
        rest = {key: child for key, child in value.items() if key != name}
        return {**rest, name: entry["instead"]} if "instead" in entry else rest
    name = name.removesuffix("[]")
    if not isinstance(value.get(name), list):
        return value
    return {**value, name: [_without(child, inner, entry, condition) for child in value[name]]}


def with_our_roles(messages: Sequence[Any], roles: Collection[str], instead: str) -> list[Any]:
    """Returns messages in which a role that isn't one of `roles`, or none, is `instead`."""
    return [
        {**message, "role": instead} if isinstance(message, Mapping) and message.get("role") not in roles else message
        for message in messages
    ]


CHAT_PARTS = {"text": "input_text", "image_url": "input_image"}
"""The types of parts of messages in `chat` that are in `responses` under another name, with the same contents."""


def with_our_parts(items: Sequence[Any]) -> list[Any]:
    """Returns items of a conversation whose parts of chat are those of `responses`."""
    return [
        {**item, "content": [_as_ours(part) for part in item["content"]]}
        if isinstance(item, Mapping) and isinstance(item.get("content"), list)
        else item
        for item in items
    ]


def _as_ours(part: Any) -> Any:
    if isinstance(part, Mapping) and part.get("type") in CHAT_PARTS:
        return {**part, "type": CHAT_PARTS[part["type"]]}
    return part


class Inner:
    """The objects inside of a system's requests: messages, items, tools. Where the system ignores a field, its object
    has no such property, although ours of the same title has it. A kind that only ours requires is added, and what only
    ours requires beside another field is kept: the name in a tool_choice.
    """

    def __init__(self, theirs: Validators) -> None:
        self._theirs = theirs
        self._compiled: dict[int, Validator] = {}  # by the id of the schema: to look them up by their text takes long

    def read(self, schema: Schema, value: Any) -> Any:
        """Returns a valid value of a schema of the system without ignored fields."""
        if not isinstance(value, (list, dict)):
            return value
        schema = self._meant(schema, value)
        if isinstance(value, list):
            return [self.read(schema["items"], child) for child in value] if "items" in schema else value
        theirs, ours = schema.get("properties", {}), _by_title().get(schema.get("title", ""), {})
        ignored = {name: child for name, child in ours.get("properties", {}).items() if name not in theirs}
        required = {name: ignored[name] for name in ours.get("required", ()) if name in ignored}
        every = {name: self.read(theirs[name], child) if name in theirs else child for name, child in value.items()}
        every |= {name: child["const"] for name, child in required.items() if "const" in child}
        if not every.keys() & ignored.keys() - required.keys():
            return every
        read = {name: child for name, child in every.items() if name not in ignored or name in required}
        fits = self._validator(validators(), ours).fits
        return every if fits(every) and not fits(read) else read

    def _validator(self, of: Validators, schema: Schema) -> Validator:
        if id(schema) not in self._compiled:
            self._compiled[id(schema)] = of.of(schema)
        return self._compiled[id(schema)]

    def _meant(self, schema: Schema, value: Any) -> Schema:
        """Returns the branch of a union that a value fits; a schema without branches is its own."""
        schema = resolved(self._theirs.document, schema)
        for branch in _branches(schema):
            if self._validator(self._theirs, branch).fits(value):
                return self._meant(branch, value)
        return schema


@cache
def _by_title() -> dict[str, Schema]:
    """Returns the schemas of our document by their titles."""
    return {schema["title"]: schema for _, schema in all_schemas(whole()) if "title" in schema}


def _branches(schema: Schema) -> Iterator[Schema]:
    yield from schema.get("anyOf", ())
    yield from schema.get("oneOf", ())
