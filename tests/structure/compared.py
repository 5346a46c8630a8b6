"""The table of docs/drift.md: how many fields of a system's document are held against its sources, and how."""

import json
import re
from collections import Counter

from specvino.codegen.fields import fields
from specvino.document.loading import dialect_file, load, systems
from specvino.document.system_fields import SystemFields
from structure.imports import PROJECT

PAGE = PROJECT / "docs" / "drift.md"
DESCRIPTIONS = PROJECT / "upstream" / "descriptions"

_PLACE = re.compile(r"(<!-- drawn: compared -->\n).*?(<!-- end -->)", re.DOTALL)
_WAYS = ("values", "names", "nothing")


def counted(system: str) -> Counter[tuple[bool, str]]:
    """Returns the numbers of the fields of a system's document, by whether they are in requests, and by what is
    compared of them: nothing for a system without a description."""
    file, own = DESCRIPTIONS / f"{system}.json", list(fields(load(dialect_file(system))))
    if not file.exists():
        return Counter((field.part == "request", "nothing") for field in own)
    description = json.loads(file.read_text("utf-8"))
    sources = SystemFields(description)
    numbers: Counter[tuple[bool, str]] = Counter()
    for field in own:
        place = (field.endpoint, field.part, field.path)
        lines = sources.lines(*place)
        way = "names" if lines is not None and lines.has_field else "nothing"
        if f"{field.endpoint}.{field.part}" in description["parts"] and sources.has(*place):
            way = "values"
        numbers[field.part == "request", way] += 1
    return numbers


def table() -> str:
    """Returns a row for each system."""
    rows = ["| system | " + " | ".join(f"{side}: {way}" for side in ("requests", "answers") for way in _WAYS) + " |"]
    rows.append("| --- |" + " --- |" * 2 * len(_WAYS))
    for system in systems():
        numbers = counted(system)
        cells = (str(numbers[is_request, way]) for is_request in (True, False) for way in _WAYS)
        rows.append(f"| {system} | {' | '.join(cells)} |")
    return "".join(f"{row}\n" for row in rows)


def drawn(text: str) -> str:
    """Returns the text with the table made anew."""
    return _PLACE.sub(lambda match: match[1] + table() + match[2], text)
