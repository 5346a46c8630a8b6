"""The skeleton of a dialect: the files of a new system, with everything unknown."""

import re
from datetime import date
from pathlib import Path
from typing import Any

from specvino.codegen.fields import parts
from specvino.codegen.source import SpecError
from specvino.codegen.spec import Spec
from specvino.document.operations import by_endpoint
from specvino.document.yaml_text import dump

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

# The vocabulary's list of systems, up to its end.
LIST = re.compile(r"^(  system: \{enum: \[.*)(\]\}.*)$", re.MULTILINE)

HEAD = """\
# How {title} supports each field of the document.
# Nothing is known yet. List the source files here, and replace the placeholders, which are marked with a ?.
name: {title}
version:
  name: unknown  # ? the version, or the commit where none is released
  date: {today}  # ? its day
  source: unknown  # ? where to get it
port: 8000  # ? the default port
base_paths: [/v1]  # ?
auth:
  header: "Authorization: Bearer"  # ?
headers: []  # ? the headers of the document that it sends
errors:
  envelope: openai  # ?
  statuses:  # ? by kind of error; null if the system has no such error
{statuses}
# ? How the events of each endpoint are sent. An `order` without `breaks` keeps streams from being judged: remove it
# once the order is known, and list under `breaks` the parts of our table (x-stream) that it violates.
stream:
{streams}
unknown_fields: ignored  # ? or refused
# ? A level for each field in place of a level for a whole endpoint (openapi/README.md, "Dialect files").
fields:
{fields}
"""

UNREADABLE = (
    "It is unknown whether {title} has Python classes that can be read; until then, use a running server "
    "(specvino conform --dialect {name})"
)


def files(spec: Spec, name: str, title: str, root: Path, today: date) -> dict[Path, str]:
    """Returns the files of a new dialect by path below `root`, the project's folder: the dialect, its table in
    upstream/, and the vocabulary with the name in the list of systems.

    Raises SpecError for a name that is taken or malformed.
    """
    dialect = root / "openapi" / "dialects" / f"{name}.yaml"
    vocabulary = root / "openapi" / "vocabulary.yaml"
    if not NAME.fullmatch(name):
        raise SpecError(f"{name!r} is not a name of small letters, digits and hyphens")
    if name in (*spec.dialects, *spec.vocabulary["$defs"]["x-origin"]["enum"]) or dialect.exists():
        raise SpecError(f"{name} is already a dialect, or this project")
    text, count = LIST.subn(rf"\g<1>, {name}\g<2>", vocabulary.read_text("utf-8"))
    if count != 1:
        raise SpecError(f"{vocabulary} has no line `system: {{enum: [...]}}`")
    return {
        dialect: _skeleton(spec, title, today),
        root / "upstream" / "tables" / f"{name}.yaml": dump({"unreadable": UNREADABLE.format(name=name, title=title)}),
        vocabulary: text,
    }


def _skeleton(spec: Spec, title: str, today: date) -> str:
    statuses = spec.vocabulary["$defs"]["errors"]["properties"]["statuses"]["required"]
    known = parts(spec.document)
    operations = by_endpoint(spec.document)
    streams = {
        endpoint: _stream(operations[endpoint].definition["x-stream"]) for endpoint, part in known if part == "stream"
    }
    return HEAD.format(
        title=dump(title).splitlines()[0],
        today=today,
        statuses=_indented(dict.fromkeys(statuses, "unknown"), 4),
        streams=_indented(streams, 2),
        fields=_indented(dict.fromkeys(dict.fromkeys(endpoint for endpoint, _ in known), "unknown"), 2),
    )


def _stream(table: dict[str, Any]) -> dict[str, Any]:
    """Returns the framing of our own stream. With an unknown order, x-stream isn't part of the system's document."""
    return {
        "framing": table["framing"],
        "terminator": table.get("terminator"),
        "error": "event",
        "order": "Unknown.",
    }


def _indented(value: dict[str, Any], columns: int) -> str:
    return "\n".join(f"{' ' * columns}{line}" for line in dump(value).splitlines())
