"""Strings of a schema as nodes: their notation, and all of their patterns, formats and lengths together."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from specvino.engine.grammar._automata.automaton import automaton
from specvino.engine.grammar._automata.expressions import Expression, Expressions, PatternError, TooLarge
from specvino.engine.grammar._automata.patterns import searched
from specvino.engine.grammar._automata.rules import texts
from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.counted import counted
from specvino.engine.grammar._ebnf.nodes import EMPTY, Chars, Grammar, Node, Text, sequence
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges
from specvino.engine.grammar._errors import GrammarError, Path, Unsatisfiable
from specvino.engine.grammar._from_lark.converter import lark
from specvino.engine.grammar._from_lark.definitions import LarkError
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.formats import FORMATS, UNENFORCED
from specvino.engine.grammar._from_schema.keywords import LARK
from specvino.engine.grammar._json_schema import Conjunction, Subschema


@dataclass(frozen=True, slots=True)
class StringStyle:
    """The syntax of strings. `begin` precedes a string and `end` follows it; `char` makes the node of a character
    set, `any_char` is any character. `literal` makes the text of a value, including what surrounds it."""

    begin: Text
    char: Callable[[Ranges], Node]
    any_char: Node
    literal: Callable[[Any], Text]
    end: Text


JSON = StringStyle(json_text.QUOTE, json_text.char, json_text.ANY_CHAR, json_text.literal, json_text.QUOTE)

# A text between tags ends with a tag, which begins with this character.
_TAG = ranges.of("<")


def plain(end: str = "") -> StringStyle:
    """Returns the style without quotes and escapes, up to `end`. It has no `<` unless a pattern or a listed value
    requires one."""

    def char(chars: Ranges) -> Node:
        return Chars(ranges.without(chars, _TAG) or chars)

    return StringStyle(EMPTY, char, char(ANY), lambda value: Text(f"{value}{end}"), Text(end))


# Upper bounds of repetitions in place of larger ones, where an automaton is too large otherwise.
NARROWER = (32, 16, 10)

# Longer ones would exceed any token limit, and are expensive to compile.
LONGEST = 100_000


@dataclass(frozen=True, slots=True)
class Constraint:
    """The texts that a keyword allows: those of `language`, and those of `wide` where no text of `language` satisfies
    the other keywords. `whole` means that the keyword allows no others, `is_annotation` that it needn't be enforced: a
    format beside a pattern.
    """

    paths: tuple[Path, ...]
    language: Expression
    wide: Expression
    whole: bool = True
    is_annotation: bool = False


@dataclass(slots=True)
class Languages:
    """State shared by the strings of all schemas in one grammar: their expressions, and why constraints of a set of
    them are left out."""

    expressions: Expressions = field(default_factory=Expressions)
    left_out: dict[tuple[Hashable, Expression], str] = field(default_factory=dict)


class Strings:
    """Converts the strings of one schema. `unenforced` gets the keywords that aren't enforced, and `annotations` the
    formats beside patterns that aren't."""

    def __init__(
        self,
        grammar: Grammar,
        languages: Languages,
        unenforced: dict[Path, str],
        annotations: set[Path],
        style: StringStyle,
    ) -> None:
        self.expressions = languages.expressions
        self._left_out = languages.left_out
        self._grammar = grammar
        self._unenforced = unenforced
        self._annotations = annotations
        self._style = style

    def node(self, schema: Conjunction) -> Node:
        """Returns the strings that satisfy a schema. Raises Unsatisfiable and GrammarError."""
        style = self._style
        if any(isinstance(definition, str) for definition in schema.values(LARK)):
            return self._lark(schema)
        if not schema.first("pattern") and not schema.first("format"):
            return sequence(style.begin, counted(self._grammar, style.any_char, *_lengths(schema), style.end))
        constraints = list(self.constraints(schema))
        try:
            return sequence(style.begin, self.texts(constraints))
        except Unsatisfiable as error:
            raise Unsatisfiable(error.path, self._conflict(constraints) or str(error)) from None

    def constraints(self, schema: Conjunction) -> Iterator[Constraint]:
        """Yields what the patterns, formats and lengths of a schema require. Raises Unsatisfiable."""
        e = self.expressions
        for keyword in (*schema.all("pattern"), *schema.all("format")):
            is_annotation = keyword.path[-1] == "format" and schema.first("pattern") is not None
            try:
                yield from self._constraint(keyword, is_annotation=is_annotation)
            except PatternError as error:
                self._report(keyword.path, str(error), is_annotation=is_annotation)
        least, most = _lengths(schema)
        for name, bounds in (("minLength", (least, None)), ("maxLength", (0, most))):
            if limits := tuple(limit.path for limit in schema.all(name)):
                language = e.repeat(e.any_char, *bounds)
                yield Constraint(limits, language, language)

    def _report(self, path: Path, reason: str, *, is_annotation: bool) -> None:
        if is_annotation:
            self._annotations.add(path)
        else:
            self._unenforced[path] = reason

    def _constraint(self, keyword: Subschema, *, is_annotation: bool) -> Iterator[Constraint]:
        e = self.expressions
        if keyword.path[-1] == "pattern":
            language = searched(e, keyword.schema)
            yield Constraint((keyword.path,), language, language)
        elif format := FORMATS.get(keyword.schema):
            languages = searched(e, format.alone), searched(e, format.wide)
            yield Constraint((keyword.path,), *languages, whole=format.whole, is_annotation=is_annotation)
        elif keyword.schema == UNENFORCED:
            raise PatternError("this format can't be enforced")

    def texts(self, constraints: Sequence[Constraint]) -> Node:
        """Returns the texts that satisfy all constraints, and the end of a string. Constraints that no grammar can
        express with the others are left out and reported. Raises Unsatisfiable.
        """
        key = frozenset((one.language, one.wide, one.is_annotation) for one in constraints)
        named = (key, self._style.begin, self._style.end)
        node = self._grammar.once("pattern", named, lambda _: self._texts(constraints, key))
        for constraint in constraints:
            if reason := self._left_out.get((key, constraint.language)):
                for path in constraint.paths:
                    self._report(path, reason, is_annotation=constraint.is_annotation)
        return node

    def _texts(self, constraints: Sequence[Constraint], key: Hashable) -> Node:
        try:
            node = self._together(constraints, self._grammar)
        except PatternError:
            constraints = self._enforceable(constraints, key)
            try:
                node = self._together(constraints, self._grammar)
            except PatternError as error:  # trying them has used up what is left for the schema
                self._left_out |= {(key, constraint.language): str(error) for constraint in constraints}
                constraints = []
                node = self._together(constraints, self._grammar)
        if node is not None:
            return node
        if unsure := next((constraint for constraint in constraints if not constraint.whole), None):
            self._left_out[key, unsure.language] = "no text that is generated for it satisfies the other keywords"
            return self._texts([constraint for constraint in constraints if constraint is not unsure], key)
        every = ", ".join(map(_keyword_path, constraints))
        raise Unsatisfiable(constraints[-1].paths[0], f"no string satisfies all of {every}")

    def _together(self, constraints: Sequence[Constraint], grammar: Grammar | None) -> Node | None:
        """Returns the texts of all constraints; None if there are none. Without a grammar, they are only tried. Raises
        PatternError.
        """
        e = self.expressions
        if grammar is None:
            known = e.open_places
            try:
                return self._together(constraints, Grammar())
            finally:
                e.open_places = known
        alone = e.both(*(constraint.language for constraint in constraints))
        wide = e.both(*(constraint.wide for constraint in constraints))
        too_large: TooLarge | None = None
        for language in (alone, wide):
            try:
                if (node := texts(grammar, e, language, self._style.char, self._style.end)) is not None:
                    return node
            except TooLarge as error:
                too_large = error
        if too_large is None:
            return None
        for most, language in product(NARROWER, (alone, wide)):
            with suppress(TooLarge):
                narrowed = e.narrowed(language, most)
                if (node := texts(grammar, e, narrowed, self._style.char, self._style.end)) is not None:
                    return node
        raise too_large

    def _enforceable(self, constraints: Sequence[Constraint], key: Hashable) -> list[Constraint]:
        """Returns constraints that a grammar can express together, and notes why the others are left out."""
        kept: list[Constraint] = []
        for constraint in constraints:
            try:
                self._together([*kept, constraint], None)
                kept.append(constraint)
            except PatternError as error:
                beside = f"beside {', '.join(map(_keyword_path, kept))}: " if kept else ""
                self._left_out[key, constraint.language] = f"{beside}{error}"
        return kept

    def _conflict(self, constraints: Sequence[Constraint]) -> str | None:
        """Returns which two of the constraints exclude each other."""
        e = self.expressions
        for first, second in combinations(constraints, 2):
            with suppress(TooLarge):
                if automaton(e, e.both(first.wide, second.wide)) is None:
                    return f"no string satisfies both {_keyword_path(first)} and {_keyword_path(second)}"
        return None

    def _lark(self, schema: Conjunction) -> Node:
        style = self._style
        notation, *others = (keyword for keyword in schema.all(LARK) if isinstance(keyword.schema, str))
        for keyword in ("pattern", "format", "minLength", "maxLength"):
            others += schema.all(keyword)
        for subschema in others:
            self._unenforced[subschema.path] = "it can't be enforced together with a Lark grammar"
        try:
            return sequence(style.begin, lark(notation.schema, self._grammar, style.char, style.end))
        except PatternError as error:
            self._unenforced[notation.path] = str(error)
        except LarkError as error:
            raise GrammarError(notation.path, str(error)) from None
        return sequence(style.begin, counted(self._grammar, style.any_char, 0, None, style.end))


def _keyword_path(constraint: Constraint) -> str:
    return ".".join(map(str, constraint.paths[0]))


def _lengths(schema: Conjunction) -> tuple[int, int | None]:
    least = max((int(value) for value in schema.values("minLength")), default=0)
    most = min((int(value) for value in schema.values("maxLength")), default=None)
    if most is not None and least > most:
        path = next(schema.all("minLength")).path
        raise Unsatisfiable(path, f"no string has at least {least} and at most {most} characters")
    if least > LONGEST:
        raise Unsatisfiable(
            next(schema.all("minLength")).path, f"strings longer than {LONGEST} characters aren't supported"
        )
    return least, None if most is None or most > LONGEST else most
