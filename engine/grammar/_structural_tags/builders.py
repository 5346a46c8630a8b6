"""Builders of structural tags, XGrammar's grammars in JSON.

XGrammar 0.1.31 has no empty string, no empty sequence and no optional element; `NOTHING` replaces them (decision 015).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specvino.engine.grammar._from_schema.keywords import ENFORCED, UNENFORCED
from specvino.engine.grammar._json_schema import STRING, admitted_types, required_and_optional, resolved

TagFormat = dict[str, Any]
"""A format of a structural tag: `{"type": "regex", "pattern": "[a-z]+"}`."""

NOTHING: TagFormat = {"type": "grammar", "grammar": 'root ::= ""'}
"""The format of the empty text."""

ANY_TEXT: TagFormat = {"type": "any_text"}
"""The format of any text; within a tag, up to the first occurrence of its end."""

# Our own types, which are replaced by grammars for XGrammar: a string by a schema, without quotes, and a Lark grammar.
PLAIN_TEXT = "plain_text"
LARK = "lark"

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
"""The schema of the parameters of a tool without parameters."""

_NAMES_ONLY = frozenset({"type", "properties", "required", "title", "description", "$schema"})
_CONSTRAINING = {*ENFORCED, *UNENFORCED} - {"type"}


def constant(text: str) -> TagFormat:
    """Returns the format of a literal text, which may be empty."""
    return {"type": "const_string", "value": text} if text else NOTHING


def json_schema(schema: Any) -> TagFormat:
    """Returns the format of the JSON texts that satisfy a schema."""
    return {"type": "json_schema", "json_schema": schema}


def regex(pattern: str) -> TagFormat:
    """Returns the format of the texts that a regular expression matches as a whole."""
    return {"type": "regex", "pattern": pattern}


def ebnf(rules: str) -> TagFormat:
    """Returns the format of a grammar in XGrammar's EBNF, whose first rule is `root`. Only XGrammar can parse it."""
    return {"type": "grammar", "grammar": rules}


def lark(definition: str) -> TagFormat:
    """Returns the format of the texts that the rule `start` of a Lark grammar derives."""
    return {"type": LARK, "grammar": definition}


def tag(begin: str, content: TagFormat, end: str) -> TagFormat:
    """Returns the format of a content between two texts, each of which may be empty."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence(elements: Sequence[TagFormat]) -> TagFormat:
    """Returns the format of the elements in this order; of none, the empty text."""
    return {"type": "sequence", "elements": list(elements) or [NOTHING]}


def either(elements: Sequence[TagFormat]) -> TagFormat:
    """Returns the format of one of the elements, of which there is at least one."""
    return {"type": "or", "elements": list(elements)}


def tags(elements: Sequence[TagFormat], separator: str, many: bool, at_least_one: bool = True) -> TagFormat:
    """Returns the format of one of the tags or, if `many`, of several with the separator between them."""
    if not many and at_least_one:
        return either(elements)  # which can be combined with other formats that end
    return {
        "type": "tags_with_separator",
        "tags": list(elements),
        "separator": separator,
        "at_least_one": at_least_one,
        "stop_after_first": not many,
    }


def triggered(trigger: str, elements: Sequence[TagFormat]) -> TagFormat:
    """Returns the format of any text in which each occurrence of the trigger starts one of the tags. All tags begin
    with it.
    """
    return {"type": "triggered_tags", "triggers": [trigger], "tags": list(elements)}


def arguments_object(parameters: Mapping[str, Any] | None) -> TagFormat:
    """Returns the format of a call's arguments as a JSON object. `parameters` is their schema; None takes none."""
    parameters = NO_ARGUMENTS if parameters is None else parameters
    if parameters.keys() <= _NAMES_ONLY and not any(map(parameters.get, ("properties", "required"))):
        return json_schema(NO_ARGUMENTS)  # without named properties there are none
    return json_schema({"type": "object", **parameters})


def argument_list(
    parameters: Mapping[str, Any] | None,
    begin: str,
    end: str,
    assign: str,
    separator: str,
    value: Callable[[Any], TagFormat],
) -> TagFormat:
    """Returns a tag with a call's arguments one after the other, as in `f(k="v", n=42)`. `value` makes the format of a
    value from its schema. If no argument is required, XGrammar can't express that each may occur only once: an argument
    may be repeated, and its last value counts.
    """
    required, optional = required_and_optional(parameters or NO_ARGUMENTS)
    if not required:
        free = [tag(name + assign, value(schema), "") for name, schema in optional.items()]
        return tag(begin, tags(free, separator, many=True, at_least_one=False) if free else NOTHING, end)
    elements: list[TagFormat] = []
    for name, schema in required.items():
        elements += [constant((separator if elements else "") + name + assign), value(schema)]
    for name, schema in optional.items():
        elements.append(either([NOTHING, sequence([constant(separator + name + assign), value(schema)])]))
    return tag(begin, sequence(elements), end)


def argument_elements(parameters: Mapping[str, Any] | None, element: Callable[[str, Any], TagFormat]) -> TagFormat:
    """Returns the format of a call's arguments as elements one after the other. `element` makes the format of an
    element from the argument's name and schema."""
    required, optional = required_and_optional(parameters or NO_ARGUMENTS)
    needed = [element(name, schema) for name, schema in required.items()]
    free = [either([NOTHING, element(name, schema)]) for name, schema in optional.items()]
    return sequence(needed + free)


def plain_string(schema: Any) -> TagFormat | None:
    """Returns the format of a string without quotes and escapes; None for a schema that admits other values, too."""
    if not isinstance(schema, dict) or admitted_types(schema, schema) != STRING:
        return None
    if _CONSTRAINING.isdisjoint(resolved(schema, schema)):
        return ANY_TEXT
    return {"type": PLAIN_TEXT, "json_schema": schema}


def admits_any_value(schema: Any) -> bool:
    """Returns whether a schema admits every value."""
    if not isinstance(schema, dict):
        return schema is True
    return admitted_types(schema, schema) is None and _CONSTRAINING.isdisjoint(resolved(schema, schema))
