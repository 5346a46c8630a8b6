"""Describes a field of the document on the terminal."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specvino.codegen.fields import fields
from specvino.document.operations import Schema
from specvino.document.pointers import component_name
from specvino.document.system_fields import system_name
from specvino.portal.variants import Owner, owners, remarks, variants
from specvino.portal.words import each_limit, limits, plain, remark, taken, text, types, values

# The keywords of a schema that are shown, with their labels.
OTHER_FACTS = {"default": "default", "x-origin": "defined by"}

Row = tuple[str, str]


class UnknownField(Exception):
    """The field doesn't exist; `str()` suggests similar names."""


@dataclass(frozen=True, slots=True)
class System:
    """A system, or an older version of one, and its document."""

    name: str
    document: Schema

    def owners(self) -> dict[str, list[Owner]]:
        """Returns the owners of each field that the system has, as `owners` does of the whole document."""
        schemas = self.document["components"]["schemas"]
        named = {id(child): name for name, schema in schemas.items() for child in schema.get("properties", {}).values()}
        return {
            # Rules between fields, which have no origin, are shown nowhere.
            field.name: [Owner(named.get(id(owner), ""), owner) for owner in field.owners if "x-origin" in owner]
            for field in fields(self.document)
        }

    def entry(self, field: str, support: Schema) -> Schema | str:
        """Returns the system's entry of a field, whose entries of the newest versions are `support`."""
        entry: Schema | str = self.document["x-dialect"].get("levels", {}).get(field) or support[system_name(self.name)]
        return entry


def explain_field(name: str, document: Schema, console: Console | None = None, system: System | None = None) -> None:
    """Prints every field of that name: one of a request, and those of the answers. With `system`, they are as its
    document describes them, with its level alone. Raises UnknownField."""
    if not name.strip():
        raise UnknownField("a field name is required, such as chat.temperature or chat.response.usage")
    schemas = document["components"]["schemas"]
    known = owners(schemas)
    endpoint, _, path = name.partition(".")
    names = [name, f"{endpoint}.response.{path}", f"{endpoint}.stream.{path}"]
    names = [name for name in names if name in known]
    if not names and (elsewhere := _elsewhere(name, known, schemas)):
        names = [elsewhere]
    if not names:
        near = difflib.get_close_matches(name, known, n=3)
        raise UnknownField(f"unknown field {name}" + (f"; similar names: {', '.join(near)}" if near else ""))
    console = console or Console()
    of_system = system.owners() if system else {}
    for field in names:
        support = known[field][0].schema["x-support"][field]
        if system is None:
            _show(console, field, known[field], schemas, support)
        else:
            entries = {system.name: system.entry(field, support)}
            # The document of a system has no field that the system lacks: only what the field means is shown.
            lacking = [Owner(owner.component, _meaning(owner.schema)) for owner in known[field]]
            own = system.document["components"]["schemas"]
            _show(console, field, of_system.get(field, lacking), own, entries)


def _meaning(schema: Schema) -> Schema:
    return {key: schema[key] for key in ("description", "x-origin") if key in schema}


def _elsewhere(name: str, known: dict[str, list[Owner]], schemas: dict[str, Schema]) -> str | None:
    """Returns the unary response's name for a field of a stream's events that both share, such as
    `chat.response.usage.total_tokens`."""
    endpoint, _, path = name.partition(".stream.")
    steps = path.split(".")
    for length in range(len(steps) - 1, 0, -1):
        outer = f"{endpoint}.stream.{'.'.join(steps[:length])}"
        components = [name for owner in known.get(outer, ()) for name in _components(owner.schema, schemas)]
        for component in components:
            member = steps[length].rstrip("[]")
            names: Schema = schemas[component].get("properties", {}).get(member, {}).get("x-support", {})
            for other in names:
                unary = other + name.removeprefix(f"{outer}.{member}")
                if other.startswith(f"{endpoint}.response.") and unary in known:
                    return unary
    return None


def _components(schema: Schema, schemas: dict[str, Schema]) -> Iterator[str]:
    """Yields the components that a value or its elements can be."""
    if "$ref" in schema:
        name = component_name(schema["$ref"])
        yield name
        yield from _components(schemas[name], schemas)
    for child in (schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(child, dict):
            yield from _components(child, schemas)


def _show(
    console: Console, name: str, several: list[Owner], schemas: dict[str, Schema], entries: dict[str, Schema | str]
) -> None:
    forms = variants(several, lambda schema: (schema.get("description"), *_rows(schema, schemas)))
    # As Text, `choices[]` isn't read as markup.
    console.print(Text(name, "bold"), end="  " if len(forms) == 1 else "\n", highlight=False)
    for variant in forms:
        if len(forms) > 1:
            console.print(Text(f"{variant.named}:", "italic"), end="  ", highlight=False)
        console.print(Text(variant.schema.get("description", "")), highlight=False)
        facts = Table.grid(padding=(0, 2))
        for label, fact in _rows(variant.schema, schemas):
            facts.add_row(f"  {label}", Text(fact))
        console.print(facts, highlight=False)
    support = Table(box=None, padding=(0, 2))
    for column in ("system", "support", "note"):
        support.add_column(column)
    for system, entry in entries.items():
        entry = {"level": entry} if isinstance(entry, str) else entry
        support.add_row(system, entry["level"], Text(remark(entry.get("note", ""), taken(entry))))
    console.print(support, highlight=False)
    console.print()


def _rows(schema: Schema, schemas: dict[str, Schema]) -> list[Row]:
    """Returns the rows of facts below a field's description."""
    rows = [("type", types(schema))] if "type" in schema else []
    rows += each_limit(schema)
    rows += [(words, text(schema[keyword])) for keyword, words in OTHER_FACTS.items() if keyword in schema]
    handling = (schema.get("x-handling"), " ".join(remarks(schema, schemas)))
    if any(handling):
        rows.append(("specvino", ". ".join(filter(None, handling))))
    if "x-supported-values" in schema:
        rows.append(("supported values", values(schema["x-supported-values"])))
    if "x-emit" in schema:
        rows.append(("sent", schema["x-emit"]))
    return rows + [("schema", branch) for branch in _branches(schema, schemas)]


def _branches(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    """Returns descriptions of a union's branches, of a reference's target or of a list's elements."""
    if "$ref" in schema:
        name = component_name(schema["$ref"])
        bounds = limits(schemas[name])
        return _branches(schemas[name], schemas) or [name + (f" ({bounds})" if bounds else "")]
    if "items" in schema:
        return [f"list of {element}" for element in _described(schema["items"], schemas)]
    unions = [branch for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())]
    return [element for branch in unions for element in _described(branch, schemas)]


def _described(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    branches = _branches(schema, schemas)
    if not branches:
        return [plain(schema)]
    bounds = limits(schema)
    suffix = (f" ({bounds})" if bounds else "") + "".join(f": {remark}" for remark in remarks(schema, schemas))
    return [branch + suffix for branch in branches]
