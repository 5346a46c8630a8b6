"""XGrammar's structural tags: the JSON Schemas in them become our grammars, the rest is XGrammar's to judge."""

from dataclasses import dataclass
from typing import Any

from specvino.engine.formats.grammar import PLAIN_TEXT, json_schema, marked_up, plain_string
from specvino.engine.formats.grammar import tag as xgrammar_tag
from specvino.engine.grammar.ebnf import fragile, render
from specvino.engine.grammar.errors import Path, SchemaError
from specvino.engine.grammar.nodes import EMPTY, Grammar, Node, Text, choice, sequence
from specvino.engine.grammar.patterns import Pattern, PatternError
from specvino.engine.grammar.prune import prune
from specvino.engine.grammar.right_linear import followed
from specvino.engine.grammar.schema import convert
from specvino.engine.grammar.shortest import shortest
from specvino.engine.grammar.spelling import JSON, Spelling, plain

MOST_FORMATS = 2000
MOST_DEPTH = 64

# The properties whose texts aren't literal.
_LANGUAGES = frozenset({"pattern", "grammar", "type"})


def lower(tag: Any) -> tuple[Any, dict[Path, str]]:
    """Returns the tag with grammars for its schemas, and what of the schemas can't be enforced.

    Raises SchemaError.
    """
    lowering = _Lowering()
    return lowering.lowered(tag, ()), lowering.unenforced


class _Lowering:
    def __init__(self) -> None:
        self.unenforced: dict[Path, str] = {}
        self._formats = 0

    def lowered(self, value: Any, path: Path) -> Any:
        if len(path) > MOST_DEPTH:
            raise SchemaError(path, f"it is nested more than {MOST_DEPTH} levels deep")
        if isinstance(value, list):
            return [self.lowered(each, (*path, index)) for index, each in enumerate(value)]
        if not isinstance(value, dict):
            if isinstance(value, str) and path[-1] not in _LANGUAGES and fragile(value):
                raise SchemaError(
                    path, "XGrammar would misread a character of U+007F to U+00FF before a hexadecimal digit"
                )
            return value
        self._formats += 1
        if self._formats > MOST_FORMATS:
            raise SchemaError(path, f"it holds more than {MOST_FORMATS} formats")
        if value.get("type") == "const_string" and isinstance(value.get("value"), str) and value["value"]:
            return {"type": "grammar", "grammar": render(Grammar({"root": Text(value["value"])}))}
        schema = value.get("json_schema")
        if value.get("type") == "json_schema" and isinstance(schema, dict | bool):
            return {"type": "grammar", "grammar": render(self._converted(schema, (*path, "json_schema")))}
        if value.get("type") == "tag" and _is_plain(value.get("content")):
            return self._plain(value, path)
        if value.get("type") == "qwen_xml_parameter" and isinstance(schema, dict):
            self._converted(schema, (*path, "json_schema"))
            return _Lowering().lowered(marked_up(_Parameters(schema), _qwen_element), path)
        return {key: self.lowered(each, (*path, key)) for key, each in value.items()}

    def _plain(self, tag: dict[str, Any], path: Path) -> Any:
        """The end goes into the grammar of the text: what runs over it needn't be tried anew at each step."""
        schema = tag["content"]["json_schema"]
        grammar = self._converted(schema, (*path, "content", "json_schema"), plain(tag["end"]))
        return {**tag, "content": {"type": "grammar", "grammar": render(grammar)}, "end": ""}

    def _converted(self, schema: Any, path: Path, spelling: Spelling = JSON) -> Grammar:
        try:
            converted = convert(schema, spelling)
        except SchemaError as error:
            raise SchemaError((*path, *error.path), str(error)) from None
        self.unenforced |= {(*path, *place): reason for place, reason in converted.unenforced.items()}
        return converted.grammar


def _is_plain(format: Any) -> bool:
    return isinstance(format, dict) and format.get("type") == PLAIN_TEXT


@dataclass(frozen=True)
class _Parameters:
    """A tool, of which only the parameters count."""

    parameters: dict[str, Any]
    name: str = ""


def _qwen_element(name: str, schema: Any) -> dict[str, Any]:
    """XGrammar's own has room for white space without end."""
    return xgrammar_tag(f"<parameter={name}>", plain_string(schema) or json_schema(schema), "</parameter>")


def example(tag: Any) -> str | None:
    """A short text that a tag allows, None if it leaves room for any text, or is a grammar of its own."""
    grammar = Grammar()
    try:
        grammar.rules["root"] = _node(tag["format"], grammar)
    except (_Open, KeyError, TypeError, PatternError):
        return None
    return shortest(grammar) if prune(grammar) else None


class _Open(Exception):
    """There is no telling, from the tag alone, what fits."""


def _node(format: Any, grammar: Grammar) -> Node:
    match format["type"]:
        case "const_string":
            return Text(format["value"])
        case "json_schema":
            converted = convert(format["json_schema"])
            return Text(shortest(converted.grammar))
        case "plain_text":
            return Text(shortest(convert(format["json_schema"], plain()).grammar))
        case "regex":
            return followed(grammar, Pattern(f"^(?:{format['pattern']})$").node(), EMPTY)
        case "sequence":
            return sequence(*(_node(each, grammar) for each in format["elements"]))
        case "or":
            return choice(*(_node(each, grammar) for each in format["elements"]))
        case "tag":
            return sequence(Text(format["begin"]), _node(format["content"], grammar), Text(format["end"]))
    raise _Open
