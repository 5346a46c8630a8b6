"""A page for each system that this server can speak as: what works, what differs, what is missing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from specvino.document.loading import DIFFERENCES, dialect_file, load
from specvino.document.operations import operations
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, cell
from specvino.portal.pages.fields import by_owner, handled
from specvino.portal.source import TITLES, Field, Source
from specvino.portal.variants import remarks


@dataclass(frozen=True, slots=True)
class Option:
    """Options of a system with their effect here, or the reason why they have none."""

    names: str
    effect: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class StartLine:
    """The start lines of a system's server there and here, and its options by the files that define them."""

    theirs: str
    ours: str
    version: str
    note: str
    options: Mapping[str, list[Option]]


HEAD = """\
# As {name}

`specvino serve --dialect {system}` speaks as {name}. This page lists what works, what differs and what is missing,
according to the document. What {name} itself does is on [its own page](../dialects/{system}.md).

## How it is started

{start}
"""

IN_PLACE = """\
In place of `{theirs}`:

```sh
{ours}
```
"""

OPTIONS = """
{name}'s options are understood under their names, those of {version} from {sources}.

| option of {name} | here |
| --- | --- |
"""

NO_EFFECT = """
??? note "Options without effect"
    They are accepted, and named at the start.

    | options | why |
    | --- | --- |
"""

PATHS = """
## Paths

Served below {bases}:

{served}
"""

NOT_SERVED = """
Not served as there; `/health`, `/metrics`, `/version` and `/openapi.json` are this server's own, at the root:

| method | path | purpose |
| --- | --- | --- |
"""

# The sections of requests' fields, in the order of the page: a title and an introduction.
SECTIONS = {
    "works": ("What works", "Fields that both {name} and this server honor."),
    "partly": ("What works for some values", "Other values have no effect here, and are named in the answer's header."),
    "missing": (
        "What is missing",
        "{name} honors these fields. Here they have no effect, and the answer's header names them.",
    ),
    "natural": ("What has no effect by its nature", "These fields change no answer, such as a note on who asks."),
    "more": ("What has an effect nevertheless", "{name} ignores these fields; this server honors them."),
    "refused": ("What is refused", "As {name} refuses it."),
}

# Those whose fields are described one by one.
WITH_REASON = ("partly", "missing")

REQUESTS = "\n## Requests\n"

ANSWERS = """
## Answers

These members are never known here. Where {name} always has them they are null, empty or their only value; else they
are left out.
"""

KNOWN = """
## Known differences

Rules by which this server answers otherwise, on purpose:

{staying}
Without `--dialect`, there are more:

{others}"""

RULES = "| rule | why |\n| --- | --- |\n"


def pages(source: Source, start_lines: Mapping[str, StartLine]) -> Iterator[Page]:
    for system, name in SYSTEMS.items():
        text = "".join(_text(source, system, start_lines.get(system)))
        yield Page(f"doubles/{system}.md", f"As {name}", text)


def _text(source: Source, system: str, line: StartLine | None) -> Iterator[str]:
    name = SYSTEMS[system]
    yield HEAD.format(name=name, system=system, start=_start(system, line))
    if line and any(line.options.values()):
        yield from _options(name, line)
    yield from _paths(source.dialect(system))
    fields = [(field, part) for field in source.fields if (part := _outermost(field, system))]
    yield REQUESTS
    for section_name, (title, words) in SECTIONS.items():
        if of_it := [field for field, part in fields if part == section_name]:
            yield f"\n### {title}\n\n{words.format(name=name)}\n"
            yield from _with_reasons(of_it, source) if section_name in WITH_REASON else _listed(of_it)
    if unknown := [field for field, part in fields if part == "unknown here"]:
        yield ANSWERS.format(name=name)
        yield from _listed(unknown)
    if known := load(DIFFERENCES).get(system):
        rows: dict[bool, str] = {True: RULES, False: RULES}
        for rule, entry in known.items():
            rows[entry.get("emulated", False)] += f"| {rule} | {cell(entry['reason'])} |\n"
        yield KNOWN.format(staying=rows[True], others=rows[False])


def _start(system: str, line: StartLine | None) -> str:
    if line is None:
        return f"```sh\nspecvino serve MODEL --dialect {system}\n```\n"
    return "\n".join(filter(None, [IN_PLACE.format(theirs=line.theirs, ours=line.ours), line.note]))


def _options(name: str, line: StartLine) -> Iterator[str]:
    options = [option for several in line.options.values() for option in several]
    sources = " and ".join(f"`{file}`" for file in line.options)
    yield OPTIONS.format(name=name, version=line.version, sources=sources)
    yield from (f"| `{option.names}` | {cell(option.effect)} |\n" for option in options if option.effect)
    yield NO_EFFECT
    yield from (f"    | `{option.names}` | {cell(option.reason)} |\n" for option in options if not option.effect)


def _paths(document: dict[str, Any]) -> Iterator[str]:
    bases = [server["url"] for server in document["servers"]]
    served = [
        f"- `{operation.method.upper()} {operation.path}`" + (" at the root" if operation.is_only_at_root else "")
        for operation in operations(document)
    ]
    others = document["x-dialect"].get("other_operations", ())
    served += [f"- `{other['method']} {other['path']}` at the root" for other in others if "served_by" in other]
    yield PATHS.format(bases=", ".join(f"`{base}`" for base in bases), served="\n".join(served))
    missing = [other for other in others if "served_by" not in other]
    if missing:
        yield NOT_SERVED
    for other in missing:
        yield f"| {cell(other['method'])} | {cell(other['path'])} | {cell(other['purpose'])} |\n"


def section(field: Field, system: str) -> str | None:
    """Returns the section of a field that the system has; None if there is nothing to show."""
    support = field.support.get(system)
    level = support.level if support else None
    if field.name == "completions.suffix" and load(dialect_file(system))["x-dialect"].get("appends_suffix"):
        return "works"
    handling = {field.handling(owner.schema) for owner in field.owners}
    if field.part != "request":
        return "unknown here" if level in ("full", "partial") and handling <= {"never", "null"} else None
    if level == "refused":
        return "refused"
    if level == "ignored":
        return "more" if "supported" in handling else None
    if level not in ("full", "partial"):
        return None
    if "supported" in handling or any("x-supported-values" in owner.schema for owner in field.owners):
        full = handling == {"supported"} and not any("x-supported-values" in owner.schema for owner in field.owners)
        return "works" if full else "partly"
    return "natural" if handling == {"accepted"} else "missing"


def _outermost(field: Field, system: str) -> str | None:
    """Returns the section of a field, unless the enclosing field is in it too."""
    name, outer = section(field, system), field.around
    while outer and name:
        if section(outer, system) == name:
            return None
        outer = outer.around
    return name


def _listed(fields: list[Field]) -> Iterator[str]:
    for endpoint, several in groupby(fields, lambda field: field.endpoint):
        yield f"\n{TITLES[endpoint]}: {', '.join(_link(field) for field in several)}.\n"


def _with_reasons(fields: list[Field], source: Source) -> Iterator[str]:
    """Yields a table of the fields with a reason and a list of the others."""
    reasons = {field.name: _reason(field, source) for field in fields}
    for endpoint, several in groupby(fields, lambda field: field.endpoint):
        of_it = list(several)
        if reasoned := [field for field in of_it if reasons[field.name]]:
            yield f"\n| {TITLES[endpoint]} | here |\n| --- | --- |\n"
            yield from (f"| {_link(field)} | {cell(reasons[field.name])} |\n" for field in reasoned)
        yield from _listed([field for field in of_it if not reasons[field.name]])


def _reason(field: Field, source: Source) -> str:
    """Returns the remark on a field here, other than that it has no effect."""
    notes = dict.fromkeys(note for owner in field.owners for note in remarks(owner.schema, source.schemas))
    handling = by_owner(field, lambda schema: handled(field, schema))
    return " ".join([*([] if handling == "not supported here" else [f"{handling}."]), *notes])


def _link(field: Field) -> str:
    return f"[`{field.path}`](../matrix.md#{field.name})"
