"""Calls written as JSON objects: `{"name": "f", "arguments": {…}}`.

`parameters` says the same as `arguments`. The members may come in any order, but arguments that come before the name
are held back until it is known. Besides them only `id` and `type` may stand before the arguments, so that a JSON answer
is soon known to be none.
"""

import json
from collections.abc import Sequence

from specvino.engine.grammar.structural_tags.builders import Grammar, tag
from specvino.engine.grammar.structural_tags.builders import json_object as object_grammar
from specvino.engine.output_parsers.json_scanner import json_object, json_value
from specvino.engine.output_parsers.pieces import CallArguments, CallEnd, CallStart
from specvino.engine.output_parsers.python_literals import as_json
from specvino.engine.output_parsers.text_source import Step, TextSource
from specvino.engine.output_parsers.tools import Tool, Tools

KEYS = ('"name"', '"arguments"', '"parameters"', '"id"', '"type"')


def call(source: TextSource, tools: Tools) -> Step[bool]:
    """Makes pieces of a call and returns True; returns False, with nothing dropped, if there is none of a known
    tool."""
    if not (yield from source.literal("{")):
        return False
    name: str | None = None
    arguments: str | None = None
    names = {json.dumps(name): name for name in tools}
    while True:
        yield from source.blank()
        key = yield from source.one_of(KEYS)
        if key is None or not (yield from _colon(source)):
            return False
        if key == '"name"':
            written = yield from source.one_of(tuple(names))
            if written is None:
                return False
            name = names[written]
        elif key in ('"arguments"', '"parameters"'):
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


def array(source: TextSource, tools: Tools) -> Step[bool]:
    """Makes pieces of the calls in an array and returns True; returns False, with nothing dropped, if the first is
    none.

    From an element on that isn't a call, the rest stays.
    """
    if not (yield from source.literal("[")):
        return False
    yield from source.blank()
    if not (yield from call(source, tools)):
        return False
    while True:
        if (yield from source.closing("]")):
            return True
        yield from source.blank()
        if not (yield from source.literal(",")):
            break
        yield from source.blank()
        if not (yield from call(source, tools)):
            break
    source.at = 0
    return True


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
    """Drops what follows the arguments in their object; models forget its brace, so it may be missing."""
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


def call_tags(tools: Sequence[Tool], key: str, begin: str = "", end: str = "") -> list[Grammar]:
    """Returns calls as JSON objects with `name` and, under `key`, the arguments."""
    heads = {tool.name: f'{begin}{{"name": {as_json(tool.name)}, "{key}": ' for tool in tools}
    return [tag(heads[tool.name], object_grammar(tool.parameters), "}" + end) for tool in tools]
