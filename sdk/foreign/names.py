"""Names and texts of a document in a form that can become a part of code, of Python and of TypeScript."""

import builtins
import keyword
import re
import typing
from collections.abc import Collection

CLASSES = frozenset(
    (
        *dir(builtins), *dir(typing),
        "Answer", "BaseModel", "ConfigDict", "Field", "RootModel", "TypeAliasType", "UnknownKind", "Unpack",
    )
)  # fmt: skip
"""Names of classes that the generated modules have already."""

METHODS = frozenset(
    (
        *keyword.kwlist, "close", "with_raw_response", "constructor", "then",
        "bool", "bytes", "dict", "float", "int", "list", "object", "property", "str", "tuple", "type",
    )
)  # fmt: skip
"""Names that methods can't have: `then` would be called by `await` of JavaScript, and a method with the name of a type
would take its place in the annotations of its class."""

FIELDS = frozenset(("self", "timeout", "extra_headers", "extra_query", "extra_body", "rounds"))
"""Names that fields of a body can't have, because methods have arguments of their own by these names."""

PARAMETERS = frozenset(
    (
        *keyword.kwlist, *FIELDS,
        "arguments", "await", "case", "catch", "const", "debugger", "default", "delete", "do", "enum", "eval", "export",
        "extends", "false", "function", "implements", "instanceof", "interface", "let", "new", "null", "package",
        "private", "protected", "public", "static", "super", "switch", "this", "throw", "true", "typeof", "var", "void",
        "yield",
        "body", "functions", "kind", "options", "query",
        "Call", "End", "Tools", "answer", "asked", "asking", "cast", "dict", "events", "fields", "getattr", "inspect",
        "pages", "parsed", "results", "segment", "tools", "use", "uses", "value",
    )
)  # fmt: skip
"""Names that parameters of the generated methods can't have: keywords of both languages, and what methods use."""


def is_parameter(name: str) -> bool:
    """Whether a name can be that of a keyword argument. Others can be sent by `extra_query`."""
    return name.isidentifier() and name.isascii() and not name.startswith("_") and name not in PARAMETERS


def class_name(name: str, taken: Collection[str]) -> str:
    """A free name in the form that datamodel-code-generator gives to classes, so that it is the class's name."""
    parts = re.split(r"[^a-zA-Z0-9]+", name)
    pascal = "".join(f"{part[:1].upper()}{part[1:]}" for part in parts)
    return free(pascal or "Unnamed", {*taken, *CLASSES})


def free(name: str, taken: Collection[str]) -> str:
    """An identifier of ASCII that isn't taken."""
    plain = re.sub(r"[^a-zA-Z0-9]+", "_", name).strip("_") or "unnamed"
    plain = f"A{plain}" if plain[0].isdigit() else plain
    number = 2
    unused = plain
    while unused in taken:
        unused = f"{plain}{number}"
        number += 1
    return unused


def is_plain(value: object) -> bool:
    """Whether a value of an enum can be a literal of both languages."""
    return not isinstance(value, str) or (value.isprintable() and not re.search(r"""["'\\`$*{}]|##""", value))


def line(text: object) -> str:
    """A text as one line that ends no comment or literal of a language, and is no command of a CI system (`##[`)."""
    shown = "".join(char if char.isprintable() else " " for char in text) if isinstance(text, str) else ""
    shown = shown.replace("\\", "/").replace('"""', "'''").replace("*/", "* /").replace("{", "(").replace("}", ")")
    return re.sub(r"\s+", " ", re.sub("#(?=#)", "# ", shown)).strip().strip('"')
