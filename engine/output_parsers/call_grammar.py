"""Grammars of calls in a format, and their text: what a call has to be, and what it is."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.engine.grammar.structural_tags.builders import (
    ANY_TEXT,
    Grammar,
    any_value,
    constant,
    either,
    json_object,
    json_schema,
    listed,
    marked_up,
    plain_string,
    regex,
    sequence,
    tag,
    tags,
)
from specvino.engine.json_schema.types import TYPES, admitted_types, types_of_value
from specvino.engine.output_parsers.call_format import (
    ID,
    NAME,
    CallFormat,
    Elements,
    JsonArguments,
    JsonCall,
    Literals,
)
from specvino.engine.output_parsers.python_literals import as_json
from specvino.engine.output_parsers.tools import Tool

_ID = "[a-zA-Z0-9_.:-]{1,64}"
_NUMBER = "[0-9]{1,3}"


def call_grammar(format: CallFormat, tools: Sequence[Tool], many: bool) -> Grammar:
    """Returns the grammar of a call of any of the tools, or if `many` of several."""
    calls = tags([_call(format, tool) for tool in tools], format.separator, many and format.parallel)
    begin, end = format.section
    return tag(begin, calls, end) if begin or end else calls


def _call(format: CallFormat, tool: Tool) -> Grammar:
    match format.arguments:
        case JsonCall(head, tail):
            name = as_json(tool.name)[1:-1]
            begin, end = format.head + head.replace(NAME, name), tail.replace(NAME, name) + format.tail
            content = json_object(tool.parameters)
        case JsonArguments():
            begin, end = format.head.replace(NAME, tool.name), format.tail
            content = json_object(tool.parameters)
        case Elements() as elements:
            begin, end = format.head.replace(NAME, tool.name), format.tail
            content = marked_up(tool.parameters, lambda name, schema: _element(elements, name, schema))
        case Literals((opening, closing), assign, separator, _) as literals:
            begin, end = format.head.replace(NAME, tool.name) + opening, closing + format.tail
            return listed(tool.parameters, begin, end, assign, separator, lambda schema: _literal(literals, schema))
    return _with_ids(format, begin, content, end)


def _with_ids(format: CallFormat, begin: str, content: Grammar, end: str) -> Grammar:
    id = regex(_NUMBER if format.numbered else _ID)
    first, *others = begin.split(ID)
    before = [part for text in others for part in (id, constant(text))]
    ending, *behind = end.split(ID)
    after = [part for text in behind for part in (id, constant(text))]
    if not before and not after:
        return tag(first, content, ending)
    return tag(first, sequence([*before, content, constant(ending), *after]), "")


def _element(format: Elements, name: str, schema: Any) -> Grammar:
    before, behind = format.key
    if not format.kinds:
        return _value(format, name, before + name + behind, schema)
    kinds = dict(format.kinds)
    types = admitted_types(schema, schema) or frozenset(TYPES)
    found = []
    for type in sorted(types & kinds.keys()):
        of_type = {**schema, "type": type} if isinstance(schema, dict) else {"type": type}
        found.append(_value(format, name, before + name + behind.replace(ID, kinds[type]), of_type))
    return found[0] if len(found) == 1 else either(found)


def _value(format: Elements, name: str, start: str, schema: Any) -> Grammar:
    """Returns the grammar of an argument: texts stand as they are; everything else is JSON."""
    text, end = ANY_TEXT if any_value(schema) else plain_string(schema), format.end.replace(NAME, name)
    if text == ANY_TEXT:  # it ends where the parser ends it: before the first end tag
        return tag(start, text, end.removeprefix("\n"))
    return tag(start, text or json_schema(schema), end)


def _literal(format: Literals, schema: Any) -> Grammar:
    """Returns the grammar of a value: free text in quotes that know no escapes; everything else is JSON, which is read
    too."""
    if format.quote not in ('"', "'") and plain_string(schema) == ANY_TEXT:
        return tag(format.quote, ANY_TEXT, format.quote)
    return json_schema(schema)


def call_text(format: CallFormat, name: str, arguments: Mapping[str, Any], id: str = "0") -> str:
    """Returns a call as the model writes it, without what stands around all calls of a turn."""
    written = json.dumps(arguments, ensure_ascii=False)
    head, tail = format.head, format.tail
    match format.arguments:
        case JsonCall(before, behind):
            head, tail = head + before, behind + tail
            name = as_json(name)[1:-1]
        case Elements(key=(before, behind), end=end, kinds=kinds):
            written = "".join(
                before + member + behind.replace(ID, _kind(kinds, value)) + _raw(value) + end.replace(NAME, member)
                for member, value in arguments.items()
            )
        case Literals((opening, closing), assign, separator, quote):
            members = (f"{member}{assign}{_quoted(value, quote)}" for member, value in arguments.items())
            written = opening + separator.join(members) + closing
        case JsonArguments():
            pass
    parts = re.split(f"([{NAME}{ID}])", head)
    filled = "".join({NAME: name, ID: id}.get(part, part) for part in parts)
    return filled + written + tail.replace(NAME, name).replace(ID, id)


def _kind(kinds: Sequence[tuple[str, str]], value: Any) -> str:
    types = types_of_value(value)
    return next((kind for type, kind in kinds if type in types), "")


def _raw(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _quoted(value: Any, quote: str) -> str:
    if isinstance(value, str) and quote not in ('"', "'"):
        return quote + value + quote
    return json.dumps(value, ensure_ascii=False)
