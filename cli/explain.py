"""Shows a field of the document on the terminal."""

import difflib
import json
from collections.abc import Iterator
from importlib.resources import files

from rich.console import Console
from rich.table import Table
from rich.text import Text

from specvino.cli.words import LIMITS, Schema, limits, plain, text, values

# What is shown of a schema, and under which name.
FACTS = {"type": "type", **LIMITS, "default": "default", "x-origin": "defined by"}

# How many of the objects that have the same field are named.
NAMED = 6

Owner = tuple[str, Schema]
"""A component that has the field, and the property as that writes it."""

Row = tuple[str, str]


class UnknownField(Exception):
    """No field has the name; `str()` suggests near ones."""


def load() -> Schema:
    """The document, its components' schemas in it."""
    document: Schema = json.loads(files("specvino.generated").joinpath("openapi.json").read_text("utf-8"))
    return document


def explain_field(name: str, document: Schema, console: Console | None = None) -> None:
    """Prints every field of that name: one of a request, and those of the answers. Raises UnknownField."""
    if not name.strip():
        raise UnknownField("a field is wanted, such as chat.temperature or chat.response.usage")
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


def _fields(schemas: dict[str, Schema]) -> dict[str, list[Owner]]:
    """The owners of each field, by its name as x-support has it; more than one where union branches share it."""
    owners: dict[str, list[Owner]] = {}
    for component, schema in schemas.items():
        for child in schema.get("properties", {}).values():
            for name in child.get("x-support", {}):
                owners.setdefault(name, []).append((component, child))
    return owners


def _elsewhere(name: str, known: dict[str, list[Owner]], schemas: dict[str, Schema]) -> str | None:
    """The unary answer's name of what events have as well: `chat.response.usage.total_tokens` for that of a stream."""
    endpoint, _, path = name.partition(".stream.")
    steps = path.split(".")
    for length in range(len(steps) - 1, 0, -1):
        outer = f"{endpoint}.stream.{'.'.join(steps[:length])}"
        for component in (each for _, owner in known.get(outer, ()) for each in _components(owner, schemas)):
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
        name = _name(schema["$ref"])
        yield name
        yield from _components(schemas[name], schemas)
    for child in (schema.get("items"), *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(child, dict):
            yield from _components(child, schemas)


def _show(console: Console, name: str, owners: list[Owner], schemas: dict[str, Schema]) -> None:
    variants = _variants(owners, schemas)
    # Text takes brackets as they are: `choices[]` is no markup.
    console.print(Text(name, "bold"), end="  " if len(variants) == 1 else "\n", highlight=False)
    for components, schema in variants:
        if len(variants) > 1:
            more = f" and {len(components) - NAMED} more" if len(components) > NAMED else ""
            console.print(Text(f"{', '.join(components[:NAMED])}{more}:", "italic"), end="  ", highlight=False)
        console.print(Text(schema.get("description", "")), highlight=False)
        facts = Table.grid(padding=(0, 2))
        for label, fact in _rows(schema, schemas):
            facts.add_row(f"  {label}", Text(fact))
        console.print(facts, highlight=False)
    support = Table(box=None, padding=(0, 2))
    for column in ("system", "support", "note"):
        support.add_column(column)
    for system, entry in owners[0][1]["x-support"][name].items():
        entry = {"level": entry} if isinstance(entry, str) else entry
        note = entry.get("note", "")
        for key in ("accepts", "sends"):
            if key in entry:
                note = f"{note} ({key} {values(entry[key])})".strip()
        support.add_row(system, entry["level"], Text(note))
    console.print(support, highlight=False)
    console.print()


def _variants(owners: list[Owner], schemas: dict[str, Schema]) -> list[tuple[list[str], Schema]]:
    """The owners of which the same is to be said together, as one property with the values of all."""
    groups: dict[tuple[str | None, bool, tuple[Row, ...]], list[Owner]] = {}
    for component, schema in owners:
        rows = _rows({key: value for key, value in schema.items() if key != "const"}, schemas)
        said = (schema.get("description"), "const" in schema, tuple(rows))
        groups.setdefault(said, []).append((component, schema))
    variants = []
    for group in groups.values():
        first = group[0][1]
        kinds = list(dict.fromkeys(schema["const"] for _, schema in group if "const" in schema))
        if len(kinds) > 1:
            first = {key: value for key, value in first.items() if key != "const"} | {"enum": kinds}
        variants.append(([component for component, _ in group], first))
    return variants


def _rows(schema: Schema, schemas: dict[str, Schema]) -> list[Row]:
    """What is said of a property, below what it is."""
    rows = [(words, text(schema[keyword])) for keyword, words in FACTS.items() if keyword in schema]
    here = (schema.get("x-fate"), " ".join(_remarks(schema, schemas)))
    if any(here):
        rows.append(("here", ". ".join(filter(None, here))))
    if "x-honours" in schema:
        rows.append(("honoured values", values(schema["x-honours"])))
    if "x-emit" in schema:
        rows.append(("sent", schema["x-emit"]))
    return rows + [("form", form) for form in _forms(schema, schemas)]


def _remarks(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    """What this server makes of the property, and of the components that it refers to."""
    own = [schema["x-here"]] if "x-here" in schema else []
    return own + (_remarks(schemas[_name(schema["$ref"])], schemas) if "$ref" in schema else [])


def _forms(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    """The branches of a union, and what a reference or a list's elements are."""
    if "$ref" in schema:
        name = _name(schema["$ref"])
        found = limits(schemas[name])
        return _forms(schemas[name], schemas) or [name + (f" ({found})" if found else "")]
    if "items" in schema:
        return [f"list of {form}" for form in _branch(schema["items"], schemas)]
    branches = [branch for keyword in ("anyOf", "oneOf") for branch in schema.get(keyword, ())]
    return [form for branch in branches for form in _branch(branch, schemas)]


def _branch(schema: Schema, schemas: dict[str, Schema]) -> list[str]:
    forms = _forms(schema, schemas)
    if not forms:
        return [plain(schema)]
    found = limits(schema)
    said = (f" ({found})" if found else "") + "".join(f": {remark}" for remark in _remarks(schema, schemas))
    return [form + said for form in forms]


def _name(reference: str) -> str:
    return reference.rsplit("/", 1)[-1]
