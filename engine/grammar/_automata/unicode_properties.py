"""The characters of Unicode properties, as `\\p{…}` names them."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from specvino.engine.grammar._ebnf import ranges
from specvino.engine.grammar._ebnf.ranges import ANY, Ranges

# General categories by their long names (PropertyValueAliases.txt of Unicode 16).
_CATEGORIES = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Control": "Cc",
    "Format": "Cf",
}

# Parts of the sets of emoji-data.txt that all versions since Unicode 9 have.
_EMOJI: Mapping[str, Ranges] = {
    "Extended_Pictographic": ((0x1F600, 0x1F64F), (0x1F680, 0x1F6C5)),
    "Emoji": ((0x1F600, 0x1F64F), (0x1F680, 0x1F6C5)),
    "Emoji_Component": (
        (0x23, 0x23),
        (0x2A, 0x2A),
        (0x30, 0x39),
        (0x200D, 0x200D),
        (0xFE0F, 0xFE0F),
        (0x1F3FB, 0x1F3FF),
    ),
}


def characters(name: str, *, excluded: bool) -> Ranges | None:
    """Returns characters that surely have a property; if `excluded`, all that may have it. None for a property that
    isn't known.

    Versions of Unicode differ in the characters that they assign, so those without a category may have any.
    """
    if name == "ASCII":
        return ((0, 0x7F),)
    if name in _EMOJI:
        return None if excluded else _EMOJI[name]
    short = _CATEGORIES.get(name, name)
    kinds = {"Lu", "Ll", "Lt"} if short == "LC" else {kind for kind in _by_category() if kind.startswith(short)}
    if short not in _CATEGORIES.values():
        return None
    kinds |= {"Cn"} if excluded else set()
    return ranges.union(pair for kind in kinds for pair in _by_category()[kind])


@cache
def _by_category() -> Mapping[str, Ranges]:
    """Returns the characters of each category; this takes a third of a second."""
    codes: dict[str, list[tuple[int, int]]] = {}
    for low, high in ANY:
        for code in range(low, high + 1):
            codes.setdefault(unicodedata.category(chr(code)), []).append((code, code))
    return {kind: ranges.union(pairs) for kind, pairs in codes.items()}
