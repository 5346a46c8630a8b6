"""Structural tags that only XGrammar knows: the JSON Schemas in them become our grammars, the rest is XGrammar's."""

from typing import Any

from specvino.engine.grammar.ebnf.nodes import Grammar, Text
from specvino.engine.grammar.ebnf.render import fragile, render
from specvino.engine.grammar.from_schema.converter import convert
from specvino.engine.grammar.from_schema.string_style import JSON, StringStyle, plain
from specvino.engine.grammar.structural_tags.builders import PLAIN_TEXT
from specvino.engine.grammar.structural_tags.repetitions import require_few_repetitions
from specvino.engine.grammar.structural_tags.to_ebnf import parameters_of_qwen, require_few, require_shallow
from specvino.engine.json_schema.errors import Path, SchemaError

# The properties whose texts aren't literal.
_LANGUAGES = frozenset({"pattern", "grammar", "type"})


def lower(tag: Any) -> tuple[Any, dict[Path, str]]:
    """Returns the tag with grammars for its schemas, and what of the schemas can't be enforced. Raises SchemaError."""
    lowering = _Lowering()
    return lowering.lowered(tag, ()), lowering.unenforced


class _Lowering:
    def __init__(self) -> None:
        self.unenforced: dict[Path, str] = {}
        self._formats = 0

    def lowered(self, value: Any, path: Path) -> Any:
        require_shallow(path)
        match value:
            case list():
                return [self.lowered(each, (*path, index)) for index, each in enumerate(value)]
            case str():
                return self._text(value, path)
            case dict():
                self._formats += 1
                require_few(self._formats, path)
                return self._format(value, path)
        return value

    def _text(self, text: str, path: Path) -> str:
        name = path[-1] if path else None
        if name in ("pattern", "grammar"):
            require_few_repetitions(text, path)
        elif name not in _LANGUAGES and fragile(text):
            raise SchemaError(path, "XGrammar would misread a character of U+007F to U+00FF before a hexadecimal digit")
        return text

    def _format(self, format: dict[str, Any], path: Path) -> Any:
        match format:
            case {"type": "const_string", "value": str(text)} if text:
                return _written(Grammar({"root": Text(text)}))
            case {"type": "json_schema", "json_schema": dict() | bool() as schema}:
                return _written(self._converted(schema, (*path, "json_schema")))
            case {"type": str(name), "json_schema": dict() as schema} if name == PLAIN_TEXT:
                return _written(self._converted(schema, (*path, "json_schema"), plain()))
            case {"type": "qwen_xml_parameter", "json_schema": dict() as schema}:
                self._converted(schema, (*path, "json_schema"))  # for what is wrong with it, at its place
                return _Lowering().lowered(parameters_of_qwen(schema), ())
        return {key: self.lowered(each, (*path, key)) for key, each in format.items()}

    def _converted(self, schema: Any, path: Path, style: StringStyle = JSON) -> Grammar:
        try:
            grammar, findings = convert(schema, style)
        except SchemaError as error:
            raise SchemaError((*path, *error.path), str(error)) from None
        self.unenforced |= {(*path, *place): reason for place, reason in findings.unenforced.items()}
        return grammar


def _written(grammar: Grammar) -> dict[str, str]:
    return {"type": "grammar", "grammar": render(grammar)}
