"""Structural tags that only XGrammar can parse: grammars replace the JSON Schemas in them, the rest is kept."""

import re
from typing import Any

from specvino.engine.grammar._ebnf.nodes import EMPTY, Grammar, Text
from specvino.engine.grammar._ebnf.render import fragile, render
from specvino.engine.grammar._ebnf.size import require_small
from specvino.engine.grammar._errors import GrammarError, Path
from specvino.engine.grammar._from_schema.converter import convert
from specvino.engine.grammar._from_schema.strings import JSON, StringStyle, plain
from specvino.engine.grammar._structural_tags.builders import LARK, PLAIN_TEXT
from specvino.engine.grammar._structural_tags.to_ebnf import (
    lark_node,
    parameters_of_qwen,
    require_few,
    require_shallow,
)

# The properties whose values aren't literal texts.
_LANGUAGES = frozenset({"pattern", "grammar", "type"})


def lower(tag: Any) -> tuple[Any, dict[Path, str]]:
    """Returns a tag with grammars instead of schemas, and the keywords that aren't enforced, with the reasons.
    Raises GrammarError."""
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
                return [self.lowered(item, (*path, index)) for index, item in enumerate(value)]
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
            raise GrammarError(
                path, "XGrammar would misread a character of U+007F to U+00FF before a hexadecimal digit"
            )
        return text

    def _format(self, format: dict[str, Any], path: Path) -> Any:
        match format:
            case {"type": "const_string", "value": str(text)} if text:
                return _written(Grammar({"root": Text(text)}))
            case {"type": "json_schema", "json_schema": dict() | bool() as schema}:
                return _written(self._converted(schema, (*path, "json_schema")))
            case {"type": str(name), "json_schema": dict() as schema} if name == PLAIN_TEXT:
                return _written(self._converted(schema, (*path, "json_schema"), plain()))
            case {"type": str(name), "grammar": str(definition)} if name == LARK:
                grammar = Grammar({"root": EMPTY})
                grammar.rules["root"] = lark_node(definition, grammar, path)
                require_small(grammar, {})
                return _written(grammar)
            case {"type": "qwen_xml_parameter", "json_schema": dict() as schema}:
                self._converted(schema, (*path, "json_schema"))  # for errors at their paths
                return _Lowering().lowered(parameters_of_qwen(schema), ())
        return {key: self.lowered(value, (*path, key)) for key, value in format.items()}

    def _converted(self, schema: Any, path: Path, style: StringStyle = JSON) -> Grammar:
        try:
            grammar, findings = convert(schema, style)
        except GrammarError as error:
            raise GrammarError((*path, *error.path), str(error)) from None
        self.unenforced |= {(*path, *inner): reason for inner, reason in findings.unenforced.items()}
        return grammar


def _written(grammar: Grammar) -> dict[str, str]:
    return {"type": "grammar", "grammar": render(grammar)}


MOST_REPEATED = 512

# A part is an escaped character, a set, a text in quotes (only in XGrammar's EBNF, but harmless in a regular
# expression), a count, a parenthesis, or any other character.
_PART = re.compile(r'\\.|\[(?:\\.|[^\]\\])*\]|"(?:\\.|[^"\\\n])*"|\{\s*(\d*)\s*,?\s*(\d*)\s*\}|[()]|\S', re.DOTALL)


def require_few_repetitions(text: str, path: Path) -> None:
    """Raises GrammarError for a regular expression, or a grammar in XGrammar's EBNF, whose counted repetitions are too
    long when expanded, as XGrammar does with most of them.
    """
    count = repeated(text)
    if count > MOST_REPEATED:
        raise GrammarError(
            path,
            f"its counted repetitions have {count} parts when written out; at most {MOST_REPEATED} are accepted",
        )


def repeated(text: str) -> int:
    """Returns how many parts the expansion of counted repetitions adds."""
    added = last = 0
    sizes = [0]
    for part in _PART.finditer(text):
        match part[0][0], part[1]:
            case "{", str():
                times = max(int(part[1] or 0), int(part[2] or 0), 1)
                added += last * (times - 1)
                sizes[-1] += last * (times - 1)
                last *= times
            case "(", _:
                sizes.append(0)
            case ")", _ if len(sizes) > 1:
                last = sizes.pop()
                sizes[-1] += last
            case _:
                last = 1
                sizes[-1] += 1
    return added
