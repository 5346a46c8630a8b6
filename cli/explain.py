"""Shows a field of the document on the terminal."""

import difflib
import json
from importlib.resources import files
from typing import Any

from rich.console import Console
from rich.table import Table

Schema = dict[str, Any]

# What is shown of a schema, and under which name.
FACTS = {
    "type": "type",
    "const": "value",
    "enum": "values",
    "minimum": "at least",
    "exclusiveMinimum": "greater than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
    "minLength": "shortest",
    "maxLength": "longest",
    "minItems": "fewest elements",
    "maxItems": "most elements",
    "maxProperties": "most entries",
    "pattern": "pattern",
    "default": "default",
    "x-origin": "defined by",
    "x-fate": "here",
    "x-honours": "honoured values",
    "x-emit": "sent",
}


class UnknownField(Exception):
    """No field has the name; `str()` suggests near ones."""


def explain_field(name: str, console: Console | None = None) -> None:
    """Prints every field of that name: one of a request, and those of the answers. Raises UnknownField."""
    document = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))
    schemas = document["components"]["schemas"]
    known = dict(_fields(schemas))
    endpoint, _, path = name.partition(".")
    wanted = [name, f"{endpoint}.response.{path}", f"{endpoint}.stream.{path}"]
    found = [each for each in wanted if each in known]
    if not found:
        near = difflib.get_close_matches(name, known, n=3)
        raise UnknownField(f"there is no field {name}" + (f"; near are {', '.join(near)}" if near else ""))
    console = console or Console()
    for each in found:
        _show(console, each, known[each], schemas)


def _fields(schemas: dict[str, Schema]) -> list[tuple[str, Schema]]:
    """Each field's name, as x-support has it, and its property."""
    return [
        (name, child)
        for schema in schemas.values()
        for child in schema.get("properties", {}).values()
        for name in child.get("x-support", {})
    ]


def _show(console: Console, name: str, schema: Schema, schemas: dict[str, Schema]) -> None:
    console.print(f"[bold]{name}[/bold]  {schema.get('description', '')}", highlight=False)
    facts = Table.grid(padding=(0, 2))
    for keyword, words in FACTS.items():
        if keyword in schema:
            facts.add_row(f"  {words}", _text(schema[keyword]))
    for form in _forms(schema, schemas):
        facts.add_row("  form", form)
    console.print(facts, highlight=False)
    support = Table(box=None, padding=(0, 2))
    for column in ("system", "support", "note"):
        support.add_column(column)
    for system, entry in schema["x-support"][name].items():
        entry = {"level": entry} if isinstance(entry, str) else entry
        note = entry.get("note", "")
        if "accepts" in entry:
            note = f"{note} (accepts {_text(entry['accepts'])})".strip()
        support.add_row(system, entry["level"], note)
    console.print(support, highlight=False)
    console.print()


def _forms(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    """The branches of a union, and what a reference or a list's elements are."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return _forms(schemas[name], schemas) or [name]
    if "items" in schema:
        elements = _forms(schema["items"], schemas) or [_text(schema["items"].get("type", ""))]
        return [f"list of {form}" for form in elements]
    branches = [branch for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())]
    return [form for branch in branches for form in _forms(branch, schemas) or [_text(branch.get("type", branch))]]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
