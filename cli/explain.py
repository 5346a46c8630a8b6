"""Shows a field of the document on the terminal."""

import difflib
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

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

# Those that are said of a form.
LIMITS = FACTS.keys() - {"type", "default", "x-origin", "x-fate", "x-honours", "x-emit"}


class UnknownField(Exception):
    """No field has the name; `str()` suggests near ones."""


def load() -> Schema:
    """The document, its components' schemas in it."""
    document: Schema = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))
    return document


def explain_field(name: str, document: Schema, console: Console | None = None) -> None:
    """Prints every field of that name: one of a request, and those of the answers. Raises UnknownField."""
    schemas = document["components"]["schemas"]
    known = _fields(schemas)
    endpoint, _, path = name.partition(".")
    wanted = [name, f"{endpoint}.response.{path}", f"{endpoint}.stream.{path}"]
    found = [each for each in wanted if each in known]
    if not found and (elsewhere := _elsewhere(name, known, schemas)):
        found = [elsewhere]
    if not found:
        near = difflib.get_close_matches(name, known, n=3)
        raise UnknownField(f"there is no field {name}" + (f"; near are {', '.join(near)}" if near else ""))
    console = console or Console()
    for each in found:
        _show(console, each, known[each], schemas)


def _fields(schemas: dict[str, Schema]) -> dict[str, Schema]:
    """Each field by its name, as x-support has it."""
    owners: dict[str, list[Schema]] = {}
    for schema in schemas.values():
        for child in schema.get("properties", {}).values():
            for name in child.get("x-support", {}):
                owners.setdefault(name, []).append(child)
    return {name: _joined(found) for name, found in owners.items()}


def _joined(owners: list[Schema]) -> Schema:
    """The property, as the first of a union's branches has it, with the values of all."""
    values = list(dict.fromkeys(owner["const"] for owner in owners if "const" in owner))
    if len(values) < 2:
        return owners[0]
    return {key: value for key, value in owners[0].items() if key != "const"} | {"enum": values}


def _elsewhere(name: str, known: dict[str, Schema], schemas: dict[str, Schema]) -> str | None:
    """The unary answer's name of what events have as well: `chat.response.usage.total_tokens` for that of a stream."""
    endpoint, _, path = name.partition(".stream.")
    steps = path.split(".")
    for length in range(len(steps) - 1, 0, -1):
        outer = f"{endpoint}.stream.{'.'.join(steps[:length])}"
        for component in _components(known.get(outer, {}), schemas):
            member = steps[length].rstrip("[]")
            names: Schema = schemas[component].get("properties", {}).get(member, {}).get("x-support", {})
            for other in names:
                found = other + name.removeprefix(f"{outer}.{member}")
                if other.startswith(f"{endpoint}.response.") and found in known:
                    return found
    return None


def _components(schema: Schema, schemas: dict[str, Schema]) -> Iterator[str]:
    """The components that a value or its elements can be."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        yield name
        yield from _components(schemas[name], schemas)
    for child in (schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(child, dict):
            yield from _components(child, schemas)


def _show(console: Console, name: str, schema: Schema, schemas: dict[str, Schema]) -> None:
    # Text takes brackets as they are: `choices[]` is no markup.
    console.print(Text.assemble((name, "bold"), f"  {schema.get('description', '')}"), highlight=False)
    facts = Table.grid(padding=(0, 2))
    for keyword, words in FACTS.items():
        if keyword in schema:
            facts.add_row(f"  {words}", Text(_text(schema[keyword])))
    for form in _forms(schema, schemas):
        facts.add_row("  form", Text(form))
    console.print(facts, highlight=False)
    support = Table(box=None, padding=(0, 2))
    for column in ("system", "support", "note"):
        support.add_column(column)
    for system, entry in schema["x-support"][name].items():
        entry = {"level": entry} if isinstance(entry, str) else entry
        note = entry.get("note", "")
        for key in ("accepts", "sends"):
            if key in entry:
                note = f"{note} ({key} {_text(entry[key])})".strip()
        support.add_row(system, entry["level"], Text(note))
    console.print(support, highlight=False)
    console.print()


def _forms(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    """The branches of a union, and what a reference or a list's elements are."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return _forms(schemas[name], schemas) or [name + _limits(schemas[name])]
    if "items" in schema:
        elements = _forms(schema["items"], schemas) or [_plain(schema["items"])]
        return [f"list of {form}" for form in elements]
    branches = [branch for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())]
    return [form for branch in branches for form in _branch(branch, schemas)]


def _branch(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    forms = _forms(schema, schemas)
    return [form + _limits(schema) for form in forms] if forms else [_plain(schema)]


def _plain(schema: Schema) -> str:
    return _text(schema.get("type", "")) + _limits(schema)


def _limits(schema: Schema) -> str:
    found = [f"{words} {_text(schema[key])}" for key, words in FACTS.items() if key in schema and key in LIMITS]
    return f" ({'; '.join(found)})" if found else ""


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_text(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
