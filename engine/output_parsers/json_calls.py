"""Calls written as JSON objects: `{"name": "f", "arguments": {…}}`.

`parameters` is equivalent to `arguments`. Members may have any order, but arguments before the name are held back until
it is known. Only `id`, `type` and the members of the model's template may precede the arguments, so that an answer in
JSON is recognized early.
"""

import json

from specvino.engine.output_parsers.call_format import JsonCall, Tools
from specvino.engine.output_parsers.json_scanner import json_object, json_value
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd, CallStart
from specvino.engine.output_parsers.text_source import Step, TextSource

_KEYS = ("name", "arguments", "parameters", "id", "type")


def call(source: TextSource, tools: Tools, format: JsonCall) -> Step[bool]:
    """Yields the pieces of a call and returns True; returns False, with nothing dropped, if there is no call of a known
    tool."""
    if not (yield from source.literal("{")):
        return False
    names = {json.dumps(name): name for name in tools}
    if format.keyed_by_name:
        return (yield from _keyed_by_name(source, names))
    names_key, arguments_key = format.roles
    keys = {json.dumps(key): key for key in (*_KEYS, *format.keys)}
    name: str | None = None
    arguments: str | None = None
    while True:
        yield from source.blank()
        key = yield from source.one_of(tuple(keys))
        if key is None or not (yield from _colon(source)):
            return False
        if keys[key] in ("name", names_key):
            written = yield from source.one_of(tuple(names))
            if written is None:
                return False
            name = names[written]
        elif keys[key] in ("arguments", "parameters", arguments_key):
            if not (yield from source.literal("{")):
                return False
            source.at -= 1
            if name is not None:
                return (yield from _stream(source, name))
            arguments = yield from json_value(source)
            if arguments is None:
                return False
        elif (yield from json_value(source)) is None:
            return False
        yield from source.blank()
        following = yield from source.one_of((",", "}"))
        if following is None:
            return False
        if following == "}":
            break
    if name is None or arguments is None:
        return False
    source.drop()
    yield CallStart(name)
    yield CallArguments(arguments)
    yield CallEnd(True)
    return True


def _keyed_by_name(source: TextSource, names: dict[str, str]) -> Step[bool]:
    """Reads the rest of `{"f": {…}}` after its opening brace."""
    yield from source.blank()
    name = yield from source.one_of(tuple(names))
    if name is None or not (yield from _colon(source)) or not (yield from source.literal("{")):
        return False
    source.at -= 1
    return (yield from _stream(source, names[name]))


def _colon(source: TextSource) -> Step[bool]:
    yield from source.blank()
    colon = yield from source.literal(":")
    yield from source.blank()
    return colon


def _stream(source: TextSource, name: str) -> Step[bool]:
    source.drop()
    yield CallStart(name)
    complete = yield from json_object(source)
    yield CallEnd(complete)
    if complete:
        yield from _rest(source)
    return True


def _rest(source: TextSource) -> Step[None]:
    """Drops the rest of the object after the arguments. Models may omit its closing brace."""
    while True:
        yield from source.blank()
        if (yield from source.literal("}")):
            source.drop()
            return
        if not (yield from source.literal(",")):
            break
        yield from source.blank()
        if (yield from json_value(source)) is None or not (yield from _colon(source)):
            break
        if (yield from json_value(source)) is None:
            break
    source.at = 0
