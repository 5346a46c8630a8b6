"""The shape of a finding's message: the part that is the same for each occurrence of a fault."""

import re
from functools import cache
from typing import Any

from specvino.document.loading import whole
from specvino.document.operations import operations

# The maximum length of a shape, in characters: longer server messages don't help to distinguish faults.
LONGEST = 240

# How reports write the end of a line within a message (reports/inert.py).
END_OF_LINE = "\\x0a"

# A quoted string, possibly truncated. Apostrophes within words don't match.
QUOTED = re.compile(r"""(?<!\w)'((?:[^'\\]|\\.)*)(?:'(?!\w)|\Z)|"((?:[^"\\]|\\.)*)(?:"|\Z)""", re.DOTALL)

# Ids in OpenAI's form, UUIDs, and any other word with a digit.
ID = re.compile(r"\b(?:chatcmpl|cmpl|resp|msg|call|fc|rs|req)[-_][A-Za-z0-9]{12,}\b")
UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
NUMBER = re.compile(r"[-+]?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b|\w*\d\w*")
LIST = re.compile(r"#(?:, #)+")


def shape_of(message: str) -> str:
    """Returns a message without numbers, ids and quoted values. Quoted field names and enum values of the document
    stay: they identify the fault."""
    text = QUOTED.sub(_name_only, message.replace(END_OF_LINE, "\n"))
    for pattern in (UUID, ID, NUMBER, LIST):
        text = pattern.sub("#", text)
    # Two of them in a row are the beginning of a command to CI systems (reports/inert.py).
    text = re.sub("##+", "#", " ".join(text.split()))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def fault_of(message: str, method: str, path: str, status: int | None) -> str:
    """Returns the identity of a finding: `GET /models/{model} -> 404: there are # choices`. `path` may include the base
    path."""
    return f"{method} {template_of(path) or shape_of(path)} -> {status or 'no answer'}: {shape_of(message)}"


def template_of(path: str) -> str | None:
    """Returns the document's path template that matches a path, such as `/models/{model}`, or None."""
    return next((template for template, pattern in _paths() if pattern.fullmatch(path)), None)


@cache
def _paths() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Returns the document's path templates with their patterns, most specific first."""
    paths = {operation.path for operation in operations(whole())}
    templates = sorted(paths, key=lambda path: (path.count("{"), -len(path)))
    return tuple(
        (template, re.compile(".*" + re.sub(r"\\{.*?\\}", ".+", re.escape(template)))) for template in templates
    )


def _name_only(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    return f"'{quoted if quoted in _names() else '…'}'"


@cache
def _names() -> frozenset[str]:
    """Returns the names of fields and the values of enums and constants in the document."""
    names: set[str] = set()
    rest: list[Any] = [whole()]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            properties, enum = value.get("properties"), value.get("enum")
            names.update(properties if isinstance(properties, dict) else ())
            values = [*(enum if isinstance(enum, list) else ()), value.get("const")]
            names.update(value for value in values if isinstance(value, str))
            rest += value.values()
        elif isinstance(value, list):
            rest += value
    return frozenset(names)
