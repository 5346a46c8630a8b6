"""The shape of a message: what two findings of the same fault have in common, without what changes from run to run."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from specvino.document.loading import whole
from specvino.document.operations import operations

# Characters of a shape: a server's long message doesn't help to tell faults apart.
LONGEST = 240

# A quotation, also a truncated one. An apostrophe within a word isn't one.
QUOTED = re.compile(r"""(?<!\w)'((?:[^'\\]|\\.)*)(?:'(?!\w)|\Z)|"((?:[^"\\]|\\.)*)(?:"|\Z)""", re.DOTALL)

# An id as OpenAI and others write them; whatever else has a digit.
ID = re.compile(r"\b(?:chatcmpl|cmpl|resp|msg|call|fc|rs|req)[-_][A-Za-z0-9]{12,}\b")
UUID = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b")
NUMBER = re.compile(r"[-+]?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b|\w*\d\w*")
LIST = re.compile(r"#(?:, #)+")


def shape_of(message: str) -> str:
    """Returns a message without numbers, ids and quoted values. Quoted names of the document's fields and enumerated
    values stay: they say what is wrong."""
    text = QUOTED.sub(_name_only, message)
    for pattern in (UUID, ID, NUMBER, LIST):
        text = pattern.sub("#", text)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def fault_of(message: str, method: str, path: str, status: int | None) -> str:
    """Returns the place of a finding and the shape of its message: `GET /models/{model} -> 404: there are # choices`.
    `path` may include the base path."""
    return f"{method} {template_of(path) or shape_of(path)} -> {status or 'no answer'}: {shape_of(message)}"


def template_of(path: str) -> str | None:
    """Returns the document's path that matches a path, such as `/models/{model}`; None without one."""
    return next((template for template, pattern in _paths() if pattern.fullmatch(path)), None)


@cache
def _paths() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Returns the paths of the document with their patterns, the most specific ones first."""
    paths = {operation.path for operation in operations(whole())}
    templates = sorted(paths, key=lambda path: (path.count("{"), -len(path)))
    return tuple(
        (template, re.compile(".*" + re.sub(r"\\{.*?\\}", ".+", re.escape(template)))) for template in templates
    )


def _name_only(found: re.Match[str]) -> str:
    quoted = found[1] if found[1] is not None else found[2]
    return f"'{quoted if quoted in _names() else '…'}'"


@cache
def _names() -> frozenset[str]:
    return frozenset(_named(whole()))


def _named(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        enum = schema.get("enum")
        values = [*(enum if isinstance(enum, list) else ()), schema.get("const")]
        yield from (value for value in values if isinstance(value, str))
    for subschema in schema.values() if isinstance(schema, Mapping) else schema if isinstance(schema, list) else ():
        yield from _named(subschema)
