"""Makes text from outside inert: a terminal, or a CI system that reads a log, shows it and obeys nothing in it.

The base class of all records applies it (`records.py`), so that reports have no other text, also if they are made from
a file; what isn't a record has passed `redact.py`, which applies it. Applied twice, it changes nothing more.
"""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any
from unicodedata import category

# What CI systems take as a command. GitHub (actions/runner, src/Runner.Common/ActionCommand.cs): `::name::` at the
# start of a line, after any white space, and `##[name]` anywhere. Azure Pipelines: `##vso[name]` anywhere. TeamCity:
# `##teamcity[name`.
COMMAND = re.compile(r"^(?P<before>[^\S\r\n]*):(?=:)|#(?=#\w*\[)", re.MULTILINE)

LONE_CR = re.compile(r"\r(?!\n)")


def block(text: str) -> str:
    r"""Returns text that may have several lines, with other controls, invisible and unassigned characters, and bidi
    marks as `\x1b` or `\u202e`. The first character of what a CI system would take as a command is written so, too."""
    return COMMAND.sub(_without_command, LONE_CR.sub(r"\\x0d", _printable(text)))


def line(text: str) -> str:
    r"""Returns text as `block` does, on one line, with ends of lines as `\x0a`."""
    return block(text).replace("\r\n", "\n").replace("\n", _code("\n"))


def remade(value: Any, made: Callable[[str], str]) -> Any:
    """Returns a value whose texts are made anew, also those in tuples, dicts and dataclasses, but not enums."""
    if type(value) is str:
        return made(value)
    if type(value) is tuple:
        return tuple(remade(item, made) for item in value)
    if type(value) is dict:
        return {remade(key, made): remade(item, made) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{own.name: remade(getattr(value, own.name), made) for own in fields(value)})
    return value


def _printable(text: str) -> str:
    # Nearly all text is printable, and isn't looked at by characters.
    return (
        text
        if text.isprintable()
        else "".join(character if _is_shown(character) else _code(character) for character in text)
    )


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in "\t\r\n" or category(character) == "Zs"


def _code(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _without_command(match: re.Match[str]) -> str:
    return f"{match['before'] or ''}{_code(match[0][-1])}"
