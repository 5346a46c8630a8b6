"""Conversion of structural tags into our grammars, for the supported formats of XGrammar."""

from typing import Any

from specvino.engine.grammar._automata.expressions import PatternError
from specvino.engine.grammar._automata.patterns import searched
from specvino.engine.grammar._automata.rules import texts
from specvino.engine.grammar._ebnf.finite_texts import prune
from specvino.engine.grammar._ebnf.nodes import (
    EMPTY,
    Chars,
    Dispatch,
    Grammar,
    Node,
    Rule,
    Text,
    Until,
    choice,
    sequence,
)
from specvino.engine.grammar._ebnf.size import require_small
from specvino.engine.grammar._errors import GrammarError, Path
from specvino.engine.grammar._from_lark.converter import lark
from specvino.engine.grammar._from_lark.definitions import LarkError
from specvino.engine.grammar._from_schema.converter import Findings, add
from specvino.engine.grammar._from_schema.strings import JSON, Languages, StringStyle, plain
from specvino.engine.grammar._structural_tags.builders import (
    LARK,
    NOTHING,
    PLAIN_TEXT,
    argument_elements,
    json_schema,
    plain_string,
)
from specvino.engine.grammar._structural_tags.builders import tag as xgrammar_tag

MOST_FORMATS = 2000
MOST_DEPTH = 64


class Unknown(Exception):
    """The tag has a format that only XGrammar supports."""


def as_grammar(tag: Any) -> tuple[Grammar, dict[Path, str]]:
    """Returns one grammar for a tag, so that common parts of its schemas are compiled once, and the keywords that it
    doesn't enforce, with the reasons. Raises GrammarError, and Unknown.
    """
    grammar = Grammar({"root": EMPTY})
    conversion = _Conversion(grammar, Languages())
    if not isinstance(tag, dict) or tag.keys() != {"type", "format"} or tag["type"] != "structural_tag":
        raise Unknown
    grammar.rules["root"] = conversion.node(tag["format"], ("format",))
    if not prune(grammar):
        raise GrammarError((), "it allows no text at all")
    require_small(grammar, conversion.findings.positions)
    return grammar, conversion.findings.unenforced


class _Conversion:
    def __init__(self, grammar: Grammar, languages: Languages) -> None:
        self.findings = Findings()
        self._grammar = grammar
        self._languages = languages
        self._formats = 0

    def node(self, format: Any, path: Path) -> Node:
        require_shallow(path)
        self._formats += 1
        require_few(self._formats, path)
        if format == NOTHING:
            return EMPTY
        match format:
            case {"type": "const_string", "value": str(text), **rest} if text and not rest:
                return Text(text)
            case {"type": "json_schema", "json_schema": dict() | bool() as schema, **rest} if not rest:
                return self._schema(schema, path, JSON)
            case {"type": "regex", "pattern": str(pattern), **rest} if not rest:
                return self._regex(pattern)
            case {"type": str(name), "grammar": str(definition), **rest} if name == LARK and not rest:
                return lark_node(definition, self._grammar, path)
            case {"type": "sequence", "elements": [_, *_] as elements, **rest} if not rest:
                return sequence(*self._nodes(elements, (*path, "elements")))
            case {"type": "or", "elements": [_, *_] as elements, **rest} if not rest:
                return choice(*self._nodes(elements, (*path, "elements")))
            case {"type": "tag", "begin": str(begin), "content": content, "end": str(end), **rest} if not rest:
                return sequence(Text(begin), self._ended(content, end, (*path, "content")))
            case {"type": "tags_with_separator", "tags": [_, *_] as tags, "separator": str(separator)}:
                typed = [{"type": "tag", **tag} if isinstance(tag, dict) else tag for tag in tags]
                return self._tags(self._nodes(typed, (*path, "tags")), separator, format)
            case {"type": "triggered_tags", "triggers": [str(trigger)], "tags": [_, *_] as tags, **rest} if not rest:
                return self._triggered(trigger, tags, (*path, "tags"))
            case {"type": "qwen_xml_parameter", "json_schema": dict() as schema, **rest} if not rest:
                return self._node_of_parameters(schema, path)
        raise Unknown

    def _nodes(self, formats: list[Any], path: Path) -> list[Node]:
        return [self.node(format, (*path, index)) for index, format in enumerate(formats)]

    def _ended(self, content: Any, end: str, path: Path) -> Node:
        """Returns a content with its end. The end of a text is part of the text's rules, so that tokens that cross it
        aren't checked again at each step.
        """
        match content:
            case {"type": "any_text", **rest} if end and not rest:
                return self._grammar.once("until", end, lambda _: Until(end))
            case {"type": str(name), "json_schema": dict() as schema, **rest} if name == PLAIN_TEXT and not rest:
                return self._schema(schema, path, plain(end))
        return sequence(self.node(content, path), Text(end))

    def _triggered(self, trigger: str, tags: list[Any], path: Path) -> Node:
        left = []
        for tag in tags:
            if not isinstance(tag, dict) or not str(tag.get("begin")).startswith(trigger) or not trigger:
                raise Unknown
            left.append({"type": "tag", **tag, "begin": tag["begin"].removeprefix(trigger)})
        begun = self._grammar.add("triggered", choice(*self._nodes(left, path)))
        return self._grammar.add("text", Dispatch(trigger, begun))

    def _tags(self, tags: list[Node], separator: str, format: dict[str, Any]) -> Node:
        if not format.keys() <= {"type", "tags", "separator", "at_least_one", "stop_after_first"}:
            raise Unknown
        one: Node = choice(*tags)
        if format.get("stop_after_first") is not True:
            one = self._grammar.add("tag", one)
            more = self._grammar.add("more_tags", EMPTY)
            self._grammar.rules[more.name] = choice(EMPTY, sequence(Text(separator), one, more))
            one = sequence(one, more)
        return one if format.get("at_least_one") is True else choice(one, EMPTY)

    def _regex(self, pattern: str) -> Node:
        expressions = self._languages.expressions
        try:
            node = texts(self._grammar, expressions, searched(expressions, f"^(?:{pattern})$"), Chars, EMPTY)
        except PatternError:
            raise Unknown from None
        if node is None:
            raise Unknown
        return node

    def _schema(self, schema: Any, path: Path, style: StringStyle) -> Rule:
        path = (*path, "json_schema")
        findings = Findings()
        try:
            rule = add(schema, self._grammar, findings, self._languages, style)
        except GrammarError as error:
            raise GrammarError((*path, *error.path), str(error)) from None
        self.findings.unenforced |= {(*path, *inner): reason for inner, reason in findings.unenforced.items()}
        self.findings.positions |= {(*path, *inner): count for inner, count in findings.positions.items()}
        return rule

    def _node_of_parameters(self, schema: Any, path: Path) -> Node:
        self._schema(schema, path, JSON)  # for errors at their paths
        return _Conversion(self._grammar, self._languages).node(parameters_of_qwen(schema), ())


def lark_node(definition: str, grammar: Grammar, path: Path) -> Node:
    """Returns the node of a Lark grammar. Raises GrammarError."""
    try:
        return lark(definition, grammar, Chars, EMPTY)
    except LarkError as error:
        raise GrammarError((*path, "grammar"), str(error)) from None
    except PatternError as error:
        raise GrammarError((*path, "grammar"), str(error), unsupported=True) from None


def require_shallow(path: Path) -> None:
    if len(path) > MOST_DEPTH:
        raise GrammarError(path, f"it is nested more than {MOST_DEPTH} levels deep")


def require_few(formats: int, path: Path) -> None:
    if formats > MOST_FORMATS:
        raise GrammarError(path, f"it has more than {MOST_FORMATS} formats")


def parameters_of_qwen(schema: dict[str, Any]) -> dict[str, Any]:
    """Returns a format equivalent to `qwen_xml_parameter`: XGrammar's own allows unbounded white space."""
    return argument_elements(schema, _qwen_element)


def _qwen_element(name: str, schema: Any) -> dict[str, Any]:
    return xgrammar_tag(f"<parameter={name}>", plain_string(schema) or json_schema(schema), "</parameter>")
