"""The table of facts of OpenAI's document, document.csv, which `python tests/dialects/openai` writes."""

import csv
import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from dialects.openai.facts import Fact, facts

from specvino.codegen.fields import field_name
from specvino.document.operations import Schema

PLACE = Path(__file__).parent / "document.csv"
COLUMNS = ("field", "types", "required", "values", "bounds", "default")

# What an event has in common with the answer, and the counted request with the request, is compared there.
ELSEWHERE = {
    ("responses", "stream"): ("response", "item"),
    ("response", "stream"): ("response", "item"),
    ("compact", "request"): ("input",),
    ("compact", "response"): ("output", "usage"),
    ("conversations", "request"): ("items",),
    ("conversation_items_creation", "request"): ("items",),
    ("conversation_items", "response"): ("data",),
    ("conversation_items_creation", "response"): ("data",),
    ("input_tokens", "request"): ("conversation", "input", "reasoning", "text", "tool_choice", "tools"),
}
# What several endpoints answer with is described at one: responses, conversations, and the items of a list.
SAME = (
    ("response", "response"),
    ("response", "stream"),
    ("response_cancel", "response"),
    ("conversation", "response"),
    ("conversation_update", "response"),
    ("conversation_item", "response"),
    ("conversation_item_deletion", "response"),
)


def by_field(document: Mapping[str, Any], parts: Mapping[tuple[str, str], Schema]) -> dict[str, Fact]:
    """Returns the facts of all parts, by the names of fields."""
    found: dict[str, Fact] = {}
    for (endpoint, part), schema in parts.items():
        if (endpoint, part) not in SAME:
            for path, fact in facts(document, schema, ELSEWHERE.get((endpoint, part), ())).items():
                found[field_name(endpoint, part, path).rstrip(".")] = fact
    return found


def write(table: Mapping[str, Fact], head: str) -> None:
    """Writes the table, under a head that says what it is of."""
    with PLACE.open("w", encoding="utf-8", newline="") as file:
        file.write("".join(f"# {line}\n" for line in head.splitlines()))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, fact in table.items():
            types, required, values, bounds, default = astuple(fact)
            said = ("" if value in (None, {}) else json.dumps(value) for value in (values, bounds, default))
            writer.writerow((name, " ".join(types), "required" if required else "", *said))


def read() -> dict[str, Fact]:
    """Returns the table."""
    with PLACE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {row["field"]: _fact(row) for row in rows}


def _fact(row: Mapping[str, str]) -> Fact:
    values = json.loads(row["values"]) if row["values"] else None
    return Fact(
        types=tuple(row["types"].split()),
        required=row["required"] == "required",
        values=None if values is None else tuple(values),
        bounds=json.loads(row["bounds"] or "{}"),
        default=json.loads(row["default"] or "null"),
    )
