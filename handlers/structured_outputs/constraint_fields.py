"""The fields of other systems, one for each kind of constraint: vLLM's structured_outputs, FastDeploy's guided_json and
similar ones, SGLang's regex and ebnf, llama.cpp's json_schema and grammar, Ollama's format."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from specvino.engine.grammar import constant, ebnf, either, lark, regex
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
"""Creates the constraint of a field from its value, name and `strict`. Raises ApiError for an invalid value."""


def _schema(value: Any, param: str, strict: bool) -> StructuredOutput:
    schema = _read(value, param) if isinstance(value, str) else value
    if not isinstance(schema, Mapping | bool):
        raise unusable(param, "a JSON Schema is an object, or true or false")
    return json_schema(schema, param, strict)


def _json_or_schema(value: Any, param: str, strict: bool) -> StructuredOutput:
    return json_object(param) if value == "json" else json_schema(value, param, strict)


def _any_object(value: Any, param: str, strict: bool) -> StructuredOutput:
    return json_object(param)


def _regex(value: str, param: str, strict: bool) -> StructuredOutput:
    return of_format(regex(value), param, within=_behind("pattern"))


def _choice(value: list[str], param: str, strict: bool) -> StructuredOutput:
    return of_format(either([constant(text) for text in dict.fromkeys(value)]), param, within=lambda path: ())


def _grammar(value: str, param: str, strict: bool) -> StructuredOutput:
    # As vLLM does, a text without this sign is taken for a Lark grammar.
    return of_format(ebnf(value) if "::=" in value else lark(value), param, within=_behind("grammar"))


def _structural_tag(value: str, param: str, strict: bool) -> StructuredOutput:
    tag = _read(value, param)
    if not isinstance(tag, Mapping):
        raise unusable(param, "a structural tag is an object")
    # The older form has no type.
    return of_tag({"type": "structural_tag", **tag}, param, strict=strict)


def _read(text: str, param: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise unusable(param, "its text is not valid JSON") from None


def _behind(last: str) -> Callable[[Path], Path]:
    """Returns a function that removes the prefix of a path in the generated tag, so that the path is relative to the
    field's value.
    """
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
    "format": _json_or_schema,
}
