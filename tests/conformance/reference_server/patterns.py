"""Texts that regular expressions match, about the shortest there are."""

import importlib
import re
from typing import Any

parser: Any = importlib.import_module("re._parser")


def match_of(pattern: str) -> str:
    """A text that the pattern matches. Raises ValueError where it is no pattern."""
    try:
        return _of_all(parser.parse(pattern))
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None


def _of_all(items: Any) -> str:
    return "".join(_of(str(kind), argument) for kind, argument in items)


def _of(kind: str, argument: Any) -> str:
    match kind:
        case "LITERAL":
            return str(chr(argument))
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            return _of_set(argument)
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, _, items = argument
            return str(_of_all(items) * least)
        case "SUBPATTERN":
            return _of_all(argument[-1])
        case "BRANCH":
            return _of_all(argument[1][0])
        case "AT" | "ASSERT" | "ASSERT_NOT":
            return ""
    raise ValueError(f"{kind} in a regular expression is not understood")


def _of_set(members: Any) -> str:
    kinds = [(str(kind), argument) for kind, argument in members]
    if kinds[0][0] == "NEGATE":
        inside = re.compile("[" + "".join(_shown(*kind) for kind in kinds[1:]) + "]")
        return next(character for character in "a0 -_Z" if not inside.match(character))
    kind, argument = kinds[0]
    if kind == "CATEGORY":
        return {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a"}.get(str(argument), "-")
    return chr(argument if kind == "LITERAL" else argument[0])


def _shown(kind: str, argument: Any) -> str:
    if kind == "RANGE":
        return f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
    if kind == "LITERAL":
        return re.escape(chr(argument))
    return {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}.get(str(argument), "")
