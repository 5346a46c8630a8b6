"""Strings of a schema as nodes: their notation, lengths, patterns and formats."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.counted import counted
from specvino.engine.grammar._ebnf.finite_texts import length
from specvino.engine.grammar._ebnf.nodes import EMPTY, Chars, Choice, Grammar, Node, Repeat, Sequence, Text, sequence
from specvino.engine.grammar._ebnf.patterns import Pattern, PatternError
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges
from specvino.engine.grammar._ebnf.right_linear import followed
from specvino.engine.grammar._errors import GrammarError, Path, Unsatisfiable
from specvino.engine.grammar._from_lark.converter import lark
from specvino.engine.grammar._from_lark.definitions import LarkError
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._from_schema.keywords import LARK
from specvino.engine.grammar._json_schema import Conjunction, Subschema

# The enforced formats. Each expression matches only valid texts, but not necessarily all of them.
_DATE = (
    r"[12]\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
)
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_CLOCK = r"T(?:\d{1,4}H(?:\d{1,2}M(?:\d{1,2}S)?)?|\d{1,4}M(?:\d{1,2}S)?|\d{1,6}S)"
# Each counted character adds to the cost of compiling. A label can't get longer than 63 characters.
_PART = r"[A-Za-z0-9]{1,15}"
_HOST = rf"{_PART}(?:[.-]{_PART}){{0,3}}"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_WORD = r"[A-Za-z0-9]+"
_WORDS = r"[A-Za-z0-9._~-]*"

FORMATS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "duration": f"^P(?:\\d{{1,4}}D(?:{_CLOCK})?|{_CLOCK})$",
    "email": rf"^[A-Za-z0-9_+-]{{1,16}}(?:\.[A-Za-z0-9_+-]{{1,16}})?@{_PART}(?:[.-]{_PART}){{0,2}}\.[A-Za-z]{{2,6}}$",
    "hostname": f"^{_HOST}$",
    "ipv4": rf"^(?:{_OCTET}\.){{3}}{_OCTET}$",
    "ipv6": r"^(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}$",
    "uri": rf"^https?://{_WORD}(?:[.-]{_WORD})*(?::\d{{1,4}})?(?:/{_WORDS})*(?:\?[A-Za-z0-9._~=&-]*)?(?:#{_WORDS})?$",
    "uuid": r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
}

# Formats of JSON Schema that aren't enforced. Any other name is an annotation.
UNENFORCED_FORMATS = frozenset(
    {
        "idn-email",
        "idn-hostname",
        "iri",
        "iri-reference",
        "json-pointer",
        "regex",
        "relative-json-pointer",
        "uri-reference",
        "uri-template",
    }
)


@dataclass(frozen=True, slots=True)
class StringStyle:
    """How strings are written. `begin` precedes a string and `end` follows it; `char` makes the node of a character
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


# Longer ones would exceed any token limit, and are expensive to compile.
LONGEST = 100_000


def string(schema: Conjunction, grammar: Grammar, unenforced: dict[Path, str], style: StringStyle) -> Node:
    """Returns the strings that satisfy a schema. Only one of pattern, format and length bounds can be enforced, in this
    order of preference.
    """
    if any(isinstance(definition, str) for definition in schema.values(LARK)):
        return _lark(schema, grammar, unenforced, style)
    least, most = _lengths(schema)
    chosen: Pattern | None = None
    for keyword in (*schema.all("pattern"), *schema.all("format")):
        try:
            pattern = _pattern(keyword)
            if pattern is None:
                continue
            if chosen is not None:
                raise PatternError("it can't be enforced together with another pattern or format")
            chosen = pattern
        except PatternError as error:
            unenforced[keyword.path] = str(error)
    if chosen is not None:
        if (simple := chosen.repeated_char()) and (node := _counted(simple, least, most, grammar, style)):
            return node
        for bound in ("minLength", "maxLength"):
            if (limit := schema.first(bound)) and not _implied(bound, limit.schema, chosen.node()):
                unenforced[limit.path] = "it can't be enforced together with a pattern or format"
        pattern = chosen
        return grammar.once(
            "pattern",
            (pattern.expression, style.begin, style.end),
            lambda _: sequence(style.begin, followed(grammar, pattern.node(style.char), style.end)),
        )
    return sequence(style.begin, counted(grammar, style.any_char, least, most, style.end))


def _lark(schema: Conjunction, grammar: Grammar, unenforced: dict[Path, str], style: StringStyle) -> Node:
    notation, *others = (each for each in schema.all(LARK) if isinstance(each.schema, str))
    for keyword in ("pattern", "format", "minLength", "maxLength"):
        others += schema.all(keyword)
    for other in others:
        unenforced[other.path] = "it can't be enforced together with a Lark grammar"
    try:
        return sequence(style.begin, lark(notation.schema, grammar, style.char, style.end))
    except PatternError as error:
        unenforced[notation.path] = str(error)
    except LarkError as error:
        raise GrammarError(notation.path, str(error)) from None
    return sequence(style.begin, counted(grammar, style.any_char, 0, None, style.end))


def _pattern(keyword: Subschema) -> Pattern | None:
    if keyword.path[-1] == "pattern":
        return Pattern(keyword.schema)
    if keyword.schema in UNENFORCED_FORMATS:
        raise PatternError("this format can't be enforced")
    return Pattern(FORMATS[keyword.schema]) if keyword.schema in FORMATS else None


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


def _implied(keyword: str, limit: int, node: Node) -> bool:
    """Returns whether all texts of a pattern are within a length limit."""
    if keyword == "minLength":
        return (length(node, {}) or 0) >= limit
    longest = _longest(node)
    return longest is not None and longest <= limit


def _longest(node: Node) -> int | None:
    """Returns the length of a pattern's longest text; None if it has none."""
    match node:
        case Text(text):
            return len(text)
        case Sequence(items):
            sizes = [_longest(item) for item in items]
            return None if None in sizes else sum(filter(None, sizes))
        case Choice(options):
            sizes = [_longest(option) for option in options]
            return None if None in sizes else max(filter(None, sizes), default=0)
        case Repeat(item, _, most):
            longest = _longest(item)
            return None if most is None or longest is None else most * longest
    return 1
