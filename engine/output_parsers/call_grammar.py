"""Structural tags of calls in a format, for calls that are forced or constrained to their schemas, and the text of a
call.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from specvino.engine.grammar import (
    ANY_TEXT,
    JSON_TYPES,
    NOTHING,
    Path,
    TagFormat,
    admits_any_value,
    admitted_types,
    argument_elements,
    argument_list,
    arguments_object,
    constant,
    either,
    json_schema,
    members,
    plain_string,
    regex,
    sequence,
    tag,
    tags,
    triggered,
    types_of_value,
)
from specvino.engine.output_parsers.argument_values import as_json
from specvino.engine.output_parsers.call_format import (
    ID,
    NAME,
    CallFormat,
    Elements,
    JsonArguments,
    JsonCall,
    Literals,
    Tool,
)
from specvino.engine.output_parsers.formats import ReasoningFormat, ToolFormat

_ID = "[a-zA-Z0-9_.:-]{1,64}"
_NUMBER = "[0-9]{1,3}"


def call_grammar(format: CallFormat, tools: Sequence[Tool], many: bool) -> TagFormat:
    """Returns the structural tag of a call of any of the tools or, if `many`, of one or more."""
    calls = tags([_call(format, tool) for tool in tools], format.separator, many and format.parallel)
    begin, end = format.section
    return tag(begin, calls, end) if begin or end else calls


def _call(format: CallFormat, tool: Tool) -> TagFormat:
    match format.arguments:
        case JsonCall(head, tail):
            name = as_json(tool.name)[1:-1]
            begin, end = format.head + head.replace(NAME, name), tail.replace(NAME, name) + format.tail
            content = arguments_object(tool.parameters)
        case JsonArguments():
            begin, end = format.head.replace(NAME, tool.name), format.tail
            content = arguments_object(tool.parameters)
        case Elements() as elements:
            begin, end = format.head.replace(NAME, tool.name), format.tail
            content = argument_elements(tool.parameters, lambda name, schema: _element(elements, name, schema))
        case Literals((opening, closing), assign, separator, _) as literals:
            begin, end = format.head.replace(NAME, tool.name) + opening, closing + format.tail
            return argument_list(
                tool.parameters, begin, end, assign, separator, lambda schema: _literal(literals, schema)
            )
    return _with_ids(format, begin, content, end)


def _with_ids(format: CallFormat, begin: str, content: TagFormat, end: str) -> TagFormat:
    id = regex(_NUMBER if format.numbered else _ID)
    first, *others = begin.split(ID)
    before = [part for text in others for part in (id, constant(text))]
    ending, *tails = end.split(ID)
    after = [part for text in tails for part in (id, constant(text))]
    if not before and not after:
        return tag(first, content, ending)
    return tag(first, sequence([*before, content, constant(ending), *after]), "")


def _element(format: Elements, name: str, schema: Any) -> TagFormat:
    before, after = format.key
    if not format.kinds:
        return _value(format, name, before + name + after, schema)
    kinds = dict(format.kinds)
    types = admitted_types(schema, schema) or frozenset(JSON_TYPES)
    values = []
    for type in sorted(types & kinds.keys()):
        of_type = {**schema, "type": type} if isinstance(schema, dict) else {"type": type}
        values.append(_value(format, name, before + name + after.replace(ID, kinds[type]), of_type))
    return values[0] if len(values) == 1 else either(values)


def _value(format: Elements, name: str, start: str, schema: Any) -> TagFormat:
    """Returns the structural tag of an argument: strings are unquoted, other values are JSON."""
    text, end = ANY_TEXT if admits_any_value(schema) else plain_string(schema), format.end.replace(NAME, name)
    if text == ANY_TEXT:  # the parser ends the string at the first end tag
        return tag(start, text, end.removeprefix("\n"))
    return tag(start, text or json_schema(schema), end)


def _literal(format: Literals, schema: Any) -> TagFormat:
    """Returns the structural tag of a value: any text in quotes if these have no escapes; else JSON, which is parsed as
    well.
    """
    if format.quote not in ('"', "'") and plain_string(schema) == ANY_TEXT:
        return tag(format.quote, ANY_TEXT, format.quote)
    return json_schema(schema)


def forced_call_grammar(
    tool_format: ToolFormat,
    tools: Sequence[Tool],
    parallel: bool = True,
    reasoning: ReasoningFormat | None = None,
    prompt_ends_in_thinking: bool = False,
) -> dict[str, Any]:
    """Returns the structural tag of one or more calls of any of the tools; if not `parallel`, of exactly one.

    With a format of reasoning, reasoning may precede the calls; if the prompt has started it, it must end first.
    Arguments satisfy the tools' schemas.
    """
    if isinstance(tool_format, CallFormat):
        grammar = call_grammar(tool_format, tools, parallel)
    else:
        grammar = tool_format.grammar(tools)
    if reasoning is not None:
        grammar = with_reasoning(reasoning, grammar, prompt_ends_in_thinking)
    return {"type": "structural_tag", "format": grammar}


def held_call_grammar(
    tool_format: ToolFormat,
    tools: Sequence[Tool],
    reasoning: ReasoningFormat | None = None,
    prompt_ends_in_thinking: bool = False,
) -> dict[str, Any]:
    """Returns the structural tag of any text in which optional calls satisfy the tools' schemas. Reasoning may precede
    it as in `forced_call_grammar`. The format must have a trigger.
    """
    assert isinstance(tool_format, CallFormat)
    assert tool_format.trigger is not None
    forced = call_grammar(tool_format, tools, many=True)
    calls = [_from(tool_format.trigger, call) for call in forced.get("tags", [forced])]
    grammar = triggered(tool_format.trigger, calls)
    if reasoning is not None:
        grammar = with_reasoning(reasoning, grammar, prompt_ends_in_thinking)
    return {"type": "structural_tag", "format": grammar}


def _from(trigger: str, tag: TagFormat) -> TagFormat:
    """Returns a tag without the text before the trigger."""
    before, _, _ = tag["begin"].partition(trigger)
    return {**tag, "begin": tag["begin"].removeprefix(before)}


def with_reasoning(reasoning: ReasoningFormat, grammar: TagFormat, prompt_ends_in_thinking: bool) -> TagFormat:
    """Returns a format preceded by reasoning, which is optional unless the prompt has started it."""
    thought = reasoning.reasoning_grammar(prompt_ends_in_thinking)
    return sequence([thought if prompt_ends_in_thinking else either([NOTHING, thought]), grammar])


def unenforceable_keywords(tool_format: ToolFormat, tool: Tool) -> Mapping[Path, str]:
    """Returns the keywords of a tool's parameters that forced calls of this format can't enforce, with the reasons."""
    if not tool_format.one_by_one:
        return {}
    return dict.fromkeys(members(tool.parameters or {}).beyond, "the model's format writes arguments one by one")


def call_text(format: CallFormat, name: str, arguments: Mapping[str, Any], id: str = "0") -> str:
    """Returns a call in the model's format, without the section around all calls of a turn."""
    written = json.dumps(arguments, ensure_ascii=False)
    head, tail = format.head, format.tail
    match format.arguments:
        case JsonCall(before, after):
            head, tail = head + before, after + tail
            name = as_json(name)[1:-1]
        case Elements(key=(before, after), end=end, kinds=kinds):
            written = "".join(
                before + member + after.replace(ID, _kind(kinds, value)) + _raw(value) + end.replace(NAME, member)
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
