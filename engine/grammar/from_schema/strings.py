"""Strings that a schema describes, as nodes."""

from typing import Any

from specvino.engine.grammar.ebnf import ranges
from specvino.engine.grammar.ebnf.counted import counted
from specvino.engine.grammar.ebnf.example import length
from specvino.engine.grammar.ebnf.nodes import Choice, Grammar, Node, Repeat, Sequence, Text, sequence
from specvino.engine.grammar.ebnf.patterns import Pattern, PatternError
from specvino.engine.grammar.ebnf.right_linear import followed
from specvino.engine.grammar.from_schema.string_formats import PATTERNS, UNENFORCED
from specvino.engine.grammar.from_schema.string_style import StringStyle
from specvino.engine.json_schema.errors import Path, Unsatisfiable
from specvino.engine.json_schema.subschema import Conjunction, Subschema

# Longer ones would be cut off by any limit on tokens, and cost much to compile.
LONGEST = 100_000


def string(schema: Conjunction, grammar: Grammar, unenforced: dict[Path, str], style: StringStyle) -> Node:
    """Returns strings that satisfy a schema. Of a pattern, a format and bounds of the length one alone can be enforced,
    in this order."""
    least, most = _lengths(schema)
    chosen: Pattern | None = None
    for each in (*schema.all("pattern"), *schema.all("format")):
        try:
            pattern = _pattern(each)
            if pattern is None:
                continue
            if chosen is not None:
                raise PatternError("beside another pattern or format it can't be enforced")
            chosen = pattern
        except PatternError as error:
            unenforced[each.path] = str(error)
    if chosen is not None:
        if (simple := chosen.repeated_char()) and (node := _counted(simple, least, most, grammar, style)):
            return node
        for keyword in ("minLength", "maxLength"):
            if (limit := schema.first(keyword)) and not _kept(keyword, limit.schema, chosen.node()):
                unenforced[limit.path] = "beside a pattern or format it can't be enforced"
        pattern = chosen
        return grammar.once(
            "pattern",
            (pattern.expression, style.begin, style.end),
            lambda _: sequence(style.begin, followed(grammar, pattern.node(style.char), style.end)),
        )
    return sequence(style.begin, counted(grammar, style.any_char, least, most, style.end))


def _pattern(each: Subschema) -> Pattern | None:
    if each.path[-1] == "pattern":
        return Pattern(each.schema)
    if each.schema in UNENFORCED:
        raise PatternError("this format can't be enforced")
    return Pattern(PATTERNS[each.schema]) if each.schema in PATTERNS else None


def _lengths(schema: Conjunction) -> tuple[int, int | None]:
    least = max((int(value) for value in schema.values("minLength")), default=0)
    most = min((int(value) for value in schema.values("maxLength")), default=None)
    if most is not None and least > most:
        path = next(schema.all("minLength")).path
        raise Unsatisfiable(path, f"no string has at least {least} and at most {most} characters")
    if least > LONGEST:
        raise Unsatisfiable(
            next(schema.all("minLength")).path, f"strings of more than {LONGEST} characters aren't written"
        )
    return least, None if most is None or most > LONGEST else most


def _counted(
    simple: tuple[Any, int, int | None], least: int, most: int | None, grammar: Grammar, style: StringStyle
) -> Node | None:
    chars, pattern_least, pattern_most = simple
    least = max(least, pattern_least)
    most = min((bound for bound in (most, pattern_most) if bound is not None), default=None)
    if not chars or (most is not None and least > most):
        return None
    char = style.char(ranges.common(chars, ranges.ANY))
    return sequence(style.begin, counted(grammar, char, least, most, style.end))


def _kept(keyword: str, limit: int, node: Node) -> bool:
    """Tells whether all texts of a pattern keep to a limit anyhow."""
    if keyword == "minLength":
        return (length(node, {}) or 0) >= limit
    longest = _longest(node)
    return longest is not None and longest <= limit


def _longest(node: Node) -> int | None:
    """Returns the length of a pattern's longest text, None if there is none."""
    match node:
        case Text(text):
            return len(text)
        case Sequence(items):
            found = [_longest(item) for item in items]
            return None if None in found else sum(filter(None, found))
        case Choice(options):
            found = [_longest(option) for option in options]
            return None if None in found else max(filter(None, found), default=0)
        case Repeat(item, _, most):
            longest = _longest(item)
            return None if most is None or longest is None else most * longest
    return 1
