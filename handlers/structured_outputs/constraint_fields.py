"""The other systems' fields, one for each kind of constraint: vLLM's structured_outputs, FastDeploy's guided_json and
its like, SGLang's regex and ebnf, llama.cpp's json_schema and grammar."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel

from specvino.engine.grammar import constant, ebnf, either, regex
from specvino.handlers.or_none import or_none
from specvino.handlers.structured_outputs.output import (
    Path,
    StructuredOutput,
    json_object,
    json_schema,
    of_format,
    of_tag,
    unusable,
)

Make = Callable[[Any, str, bool], StructuredOutput]


def constraint_fields(body: BaseModel) -> dict[str, Any]:
    """Returns the fields of a body that constrain its text, by their names. An empty text is none, and neither is
    false."""
    given = {name: _value(body, name) for name in KINDS}
    return {name: value for name, value in given.items() if value is not None and value != "" and value is not False}


def of_constraint_field(name: str, value: Any, strict: bool) -> StructuredOutput:
    """Returns the constraint that one of `constraint_fields` is. Raises ApiError for a text that can't be read."""
    return KINDS[name](value, name, strict)


def _schema(value: Any, param: str, strict: bool) -> StructuredOutput:
    schema = _read(value, param) if isinstance(value, str) else value
    if not isinstance(schema, Mapping | bool):
        raise unusable(param, "a JSON Schema is an object, or true or false")
    return json_schema(schema, param, strict)


def _any_object(value: Any, param: str, strict: bool) -> StructuredOutput:
    return json_object(param)


def _regex(value: str, param: str, strict: bool) -> StructuredOutput:
    return of_format(regex(value), param, within=_behind("pattern"))


def _choice(value: list[str], param: str, strict: bool) -> StructuredOutput:
    return of_format(either([constant(text) for text in dict.fromkeys(value)]), param, within=lambda path: ())


def _grammar(value: str, param: str, strict: bool) -> StructuredOutput:
    if "::=" not in value:
        raise unusable(param, 'a grammar has rules such as root ::= "yes" | "no"; other notations aren\'t read')
    return of_format(ebnf(value), param, within=_behind("grammar"))


def _structural_tag(value: str, param: str, strict: bool) -> StructuredOutput:
    tag = _read(value, param)
    if not isinstance(tag, Mapping):
        raise unusable(param, "a structural tag is an object")
    # Its type goes without saying in the older form.
    return of_tag({"type": "structural_tag", **tag}, param, strict=strict)


def _read(text: str, param: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise unusable(param, "its text is no JSON") from None


def _behind(last: str) -> Callable[[Path], Path]:
    """Returns what leaves out where in the made tag the field's value stands."""
    return lambda path: path[2:] if path[:2] == ("format", last) else path[1:]


KINDS: dict[str, Make] = {
    "structured_outputs.json": _schema,
    "structured_outputs.regex": _regex,
    "structured_outputs.choice": _choice,
    "structured_outputs.grammar": _grammar,
    "structured_outputs.json_object": _any_object,
    "structured_outputs.structural_tag": _structural_tag,
    "guided_json": _schema,
    "guided_regex": _regex,
    "guided_choice": _choice,
    "guided_grammar": _grammar,
    "structural_tag": _structural_tag,
    "regex": _regex,
    "ebnf": _grammar,
    "json_schema": _schema,
    "grammar": _grammar,
}


def _value(body: BaseModel, name: str) -> Any:
    """Returns a field that not every endpoint has, also one within another."""
    value: Any = body
    for step in name.split("."):
        fields = type(value).model_fields
        attribute = next((each for each, field in fields.items() if (field.alias or each) == step), None)
        value = or_none(getattr(value, attribute)) if attribute is not None else None
        if value is None:
            return None
    return value
