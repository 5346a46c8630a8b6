"""XGrammar's structural tags: the JSON Schemas in them become our grammars, the rest is XGrammar's to judge."""

from typing import Any

from specvino.engine.grammar.ebnf import render
from specvino.engine.grammar.errors import Path, SchemaError
from specvino.engine.grammar.nodes import Grammar, Node, Text, choice, sequence
from specvino.engine.grammar.patterns import Pattern, PatternError
from specvino.engine.grammar.prune import prune
from specvino.engine.grammar.schema import convert
from specvino.engine.grammar.shortest import shortest

MOST_FORMATS = 2000
MOST_DEPTH = 64


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
            return value
        self._formats += 1
        if self._formats > MOST_FORMATS:
            raise SchemaError(path, f"it holds more than {MOST_FORMATS} formats")
        if value.get("type") == "json_schema" and isinstance(value.get("json_schema"), dict | bool):
            return self._grammar(value["json_schema"], (*path, "json_schema"))
        return {key: self.lowered(each, (*path, key)) for key, each in value.items()}

    def _grammar(self, schema: Any, path: Path) -> dict[str, str]:
        try:
            converted = convert(schema)
        except SchemaError as error:
            raise SchemaError((*path, *error.path), str(error)) from None
        self.unenforced |= {(*path, *place): reason for place, reason in converted.unenforced.items()}
        return {"type": "grammar", "grammar": render(converted.grammar)}


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
        case "regex":
            return Pattern(f"^(?:{format['pattern']})$").node(grammar)
        case "sequence":
            return sequence(*(_node(each, grammar) for each in format["elements"]))
        case "or":
            return choice(*(_node(each, grammar) for each in format["elements"]))
        case "tag":
            return sequence(Text(format["begin"]), _node(format["content"], grammar), Text(format["end"]))
    raise _Open
