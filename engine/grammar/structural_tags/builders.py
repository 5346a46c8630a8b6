"""Structural tags, XGrammar's grammars in JSON: what forces a call is made of them.

XGrammar 0.1.31 knows no empty string or sequence and no optional element: `NOTHING` helps out (decision 015).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specvino.engine.grammar.from_schema.keywords import ENFORCED, UNENFORCED
from specvino.engine.json_schema.members import required_and_optional
from specvino.engine.json_schema.refs import resolved
from specvino.engine.json_schema.types import STRING, admitted_types

Grammar = dict[str, Any]

NOTHING: Grammar = {"type": "grammar", "grammar": 'root ::= ""'}
ANY_TEXT: Grammar = {"type": "any_text"}

# Our own type, for a string as a schema describes it, without quotes; XGrammar gets a grammar instead.
PLAIN_TEXT = "plain_text"


# The schema of the parameters of a tool that takes none.
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}

_NAMES_ONLY = frozenset({"type", "properties", "required", "title", "description", "$schema"})
_CONSTRAINING = {*ENFORCED, *UNENFORCED} - {"type"}


def constant(text: str) -> Grammar:
    return {"type": "const_string", "value": text} if text else NOTHING


def json_schema(schema: Any) -> Grammar:
    return {"type": "json_schema", "json_schema": schema}


def regex(pattern: str) -> Grammar:
    return {"type": "regex", "pattern": pattern}


def grammar(rules: str) -> Grammar:
    return {"type": "grammar", "grammar": rules}


def tag(begin: str, content: Grammar, end: str) -> Grammar:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(elements: Sequence[Grammar]) -> Grammar:
    return {"type": "sequence", "elements": list(elements) or [NOTHING]}


def either(elements: Sequence[Grammar]) -> Grammar:
    return {"type": "or", "elements": list(elements)}


def tags(elements: Sequence[Grammar], separator: str, many: bool, at_least_one: bool = True) -> Grammar:
    """Returns one of the tags, or if `many` several with the separator between them."""
    if not many and at_least_one:
        return either(elements)  # which may stand beside other things that come to an end
    return {
        "type": "tags_with_separator",
        "tags": list(elements),
        "separator": separator,
        "at_least_one": at_least_one,
        "stop_after_first": not many,
    }


def triggered(trigger: str, elements: Sequence[Grammar]) -> Grammar:
    """Returns any text in which one of the tags follows wherever the text comes with which they all begin."""
    return {"type": "triggered_tags", "triggers": [trigger], "tags": list(elements)}


def json_object(parameters: Mapping[str, Any] | None) -> Grammar:
    """Returns an object that satisfies the schema of a tool's parameters; None takes none."""
    parameters = NO_ARGUMENTS if parameters is None else parameters
    if parameters.keys() <= _NAMES_ONLY and not any(map(parameters.get, ("properties", "required"))):
        return json_schema(NO_ARGUMENTS)  # to name no properties is to have none
    return json_schema({"type": "object", **parameters})


def listed(
    parameters: Mapping[str, Any] | None,
    begin: str,
    end: str,
    assign: str,
    separator: str,
    value: Callable[[Any], Grammar],
) -> Grammar:
    """Returns a tag with the arguments, one after the other.

    Where none of them must come, XGrammar can't say that each may come once: a repeated one is possible, and its last
    value counts.
    """
    required, optional = required_and_optional(parameters or NO_ARGUMENTS)
    if not required:
        free = [tag(name + assign, value(schema), "") for name, schema in optional.items()]
        return tag(begin, tags(free, separator, many=True, at_least_one=False) if free else NOTHING, end)
    elements: list[Grammar] = []
    for name, schema in required.items():
        elements += [constant((separator if elements else "") + name + assign), value(schema)]
    for name, schema in optional.items():
        elements.append(either([NOTHING, sequence([constant(separator + name + assign), value(schema)])]))
    return tag(begin, sequence(elements), end)


def marked_up(parameters: Mapping[str, Any] | None, element: Callable[[str, Any], Grammar]) -> Grammar:
    """Returns the arguments as elements, one after the other."""
    required, optional = required_and_optional(parameters or NO_ARGUMENTS)
    must = [element(name, schema) for name, schema in required.items()]
    may = [either([NOTHING, element(name, schema)]) for name, schema in optional.items()]
    return sequence(must + may)


def plain_string(schema: Any) -> Grammar | None:
    """Returns the grammar of an argument that is a string and stands there without quotes and escapes; None if it isn't
    one."""
    if not isinstance(schema, dict) or admitted_types(schema, schema) != STRING:
        return None
    if _CONSTRAINING.isdisjoint(resolved(schema, schema)):
        return ANY_TEXT
    return {"type": PLAIN_TEXT, "json_schema": schema}


def any_value(schema: Any) -> bool:
    """Tells whether a schema admits every value."""
    if not isinstance(schema, dict):
        return schema is True
    return admitted_types(schema, schema) is None and _CONSTRAINING.isdisjoint(resolved(schema, schema))
