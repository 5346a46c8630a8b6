"""Strings that a schema describes, as nodes: how they are spelled, their lengths, patterns and formats."""

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
from specvino.engine.grammar._errors import Path, Unsatisfiable
from specvino.engine.grammar._from_schema import json_text
from specvino.engine.grammar._json_schema import Conjunction, Subschema

# The formats that are enforced: each expression matches valid texts only, if not all of them.
_DATE = (
    r"[12]\d{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))"
)
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_CLOCK = r"T(?:\d{1,4}H(?:\d{1,2}M(?:\d{1,2}S)?)?|\d{1,4}M(?:\d{1,2}S)?|\d{1,6}S)"
# Each character that is counted costs something to compile. No label can come to have more than 63.
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

# Formats that JSON Schema defines and that are not enforced. Any other name is a note, which JSON Schema lets pass.
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
    """Says how strings are written. `begin` stands before a string and `end` behind it, `char` is one character out of
    a set, `any_char` whichever. `literal` is a whole value, with what stands around it."""

    begin: Text
    char: Callable[[Ranges], Node]
    any_char: Node
    literal: Callable[[Any], Text]
    end: Text


JSON = StringStyle(json_text.QUOTE, json_text.char, json_text.ANY_CHAR, json_text.literal, json_text.QUOTE)

# What ends a text that stands between tags begins so.
_TAG = ranges.of("<")


def plain(end: str = "") -> StringStyle:
    """Returns the style without quotes and escapes, up to `end`. It has no `<` but where a pattern or a listed value
    demands one."""

    def char(chars: Ranges) -> Node:
        return Chars(ranges.without(chars, _TAG) or chars)

    return StringStyle(EMPTY, char, char(ANY), lambda value: Text(f"{value}{end}"), Text(end))


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
    if each.schema in UNENFORCED_FORMATS:
        raise PatternError("this format can't be enforced")
    return Pattern(FORMATS[each.schema]) if each.schema in FORMATS else None


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
