"""Arguments written as plain text, which only the tool's schema gives a type."""

from collections.abc import Mapping
from typing import Any

from specvino.engine.json_schema.types import STRING, admitted_types
from specvino.engine.output_parsers.python_literals import PythonLiterals, as_json
from specvino.engine.output_parsers.text_source import TextSource


def is_text(schema: Any, root: Mapping[str, Any] | None) -> bool:
    """Tells whether the argument is a string, whatever it looks like."""
    return admitted_types(schema, root) == STRING


def typed_json(text: str, schema: Any, root: Mapping[str, Any] | None) -> str:
    """Returns JSON text of the argument.

    What reads as a value of another type is one, if the schema admits it or admits no string; all else is a string.
    """
    types = admitted_types(schema, root)
    if types == STRING:
        return as_json(text)
    value = _literal(text.strip())
    if value is None or (types is not None and "string" in types and not types & _types(value)):
        return as_json(text)
    return value


def _literal(text: str) -> str | None:
    source = TextSource(text, ended=True)
    reading = PythonLiterals().value(source)
    while True:
        try:
            next(reading)  # never waits: the text has ended
        except StopIteration as end:
            value: str | None = end.value
            return value if source.at == len(text) else None


def _types(value: str) -> set[str]:
    match value[0]:
        case '"':
            return {"string"}
        case "[":
            return {"array"}
        case "{":
            return {"object"}
        case "t" | "f":
            return {"boolean"}
        case "n":
            return {"null"}
        case _:
            return {"number", "integer"}
