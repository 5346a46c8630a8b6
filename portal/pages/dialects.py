"""Two pages for each system: its differences, and its API reference with the document inside."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from specvino.document.loading import dialects
from specvino.document.system_fields import system_name
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, cell
from specvino.portal.pages.fields import chip
from specvino.portal.reference import page
from specvino.portal.source import TITLES, Field, Source

ENVELOPES = {
    "anthropic": 'the object `{"type": "error", "error": {"type", "message"}}`',
    "openai": 'the object `{"error": {"message", "type", "param", "code"}}`',
    "flat": 'the object `{"object", "message", "type", "param", "code"}`',
    "string": 'a string, `{"error": "…"}`',
    "detail": '`{"detail": …}`, as FastAPI gives it',
    "json text": "a JSON text within a JSON text",
    "text": "plain text",
}

UNKNOWN = {"ignored": "have no effect", "refused": "are an error"}

FRAMINGS = {"data": "`data:` alone", "event": "`event:` and `data:`", "lines": "lines of JSON"}

FAILURES = {"event": "as an event", "none": "not as an event"}

INTRODUCTION = """\
# {name}

The API as {name} has it. Read it in the [reference](../reference/{system}.html), or take
[its document](../openapi/{system}.json){{ download="{system}.json" }} (OpenAPI 3.1). The command line works with it:

```sh
specvino spec --dialect {system}                    # print the document
specvino sdk python --dialect {system} -o client    # make a client for {name}
```

| what | how |
| --- | --- |
| Version | {version} |
{older}| Base paths | {paths} |
| Errors | {errors} |
| Unknown fields | {unknown} |
| Operations | {operations} |

## Streams

| endpoint | framing | ends with | an error comes | order |
| --- | --- | --- | --- | --- |
"""

OTHERS = """
## Operations that aren't described

| method | path | purpose |
| --- | --- | --- |
"""

DIFFERENT = """
## What is different

Fields that aren't supported in full, and remarks on those that are. Fields inside one that is refused, ignored
or absent are so too, and aren't repeated.
"""

NOT_KNOWN = "\nIt is unknown what {name} does with {count} fields: see [the matrix]({matrix}).\n"


def pages(source: Source) -> Iterator[Page]:
    for system, name in SYSTEMS.items():
        yield Page(path(system), name, "".join(_text(source, system)))


def _text(source: Source, system: str) -> Iterator[str]:
    document = source.dialect(system)
    head: dict[str, Any] = document["x-dialect"]
    operations = {
        f"`{method.upper()} {path}`": operation["x-endpoint"]
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in ("get", "post", "delete")
    }
    yield INTRODUCTION.format(
        name=SYSTEMS[system],
        system=system,
        version=cell(f"{head['version']['name']} ({about(head['version'])})"),
        older=_versions(system),
        paths=", ".join(f"`{server['url']}`" for server in document["servers"]),
        errors=_errors(head["errors"]),
        unknown=UNKNOWN[head["unknown_fields"]],
        operations=", ".join(operations),
    )
    for endpoint, stream in head["stream"].items():
        framing = FRAMINGS[stream["framing"]]
        end = f"`{stream['terminator']}`" if stream["terminator"] else "nothing"
        order = cell(stream.get("order", "as [documented](../streams.md)"))
        yield f"| {TITLES[endpoint]} | {framing} | {end} | {FAILURES[stream['error']]} | {order} |\n"
    if others := head.get("other_operations"):
        yield OTHERS
        for operation in others:
            purpose = operation["purpose"] + (f" ({operation['note']})" if "note" in operation else "")
            yield f"| {cell(operation['method'])} | {cell(operation['path'])} | {cell(purpose)} |\n"
    yield DIFFERENT
    endpoints = {*operations.values(), "error"}
    differing = [field for field in source.fields if _differs(field, system, endpoints)]
    for endpoint, fields in groupby(differing, lambda field: field.endpoint):
        yield f"\n### {TITLES[endpoint]}\n"
        yield from _fields(list(fields), system)
    if count := sum(_level(field, system) == "unknown" for field in source.fields):
        yield NOT_KNOWN.format(count=count, name=SYSTEMS[system], matrix=f"../matrix.md?system={system}&level=unknown")


def path(dialect: str) -> str:
    """Returns the path of the page of a system or of an older version; an address has no @."""
    return f"dialects/{dialect.replace('@', '-')}.md"


def _versions(system: str) -> str:
    """Returns links to the pages of older versions."""
    older = [dialect for dialect in dialects() if dialect != system == system_name(dialect)]
    links = ", ".join(f"[{dialect}](../{path(dialect)})" for dialect in older)
    return f"| Older versions | {links} |\n" if older else ""


def about(version: dict[str, Any]) -> str:
    """Returns when and where a version was read."""
    commits = [version["commit"]] if "commit" in version else list(version.get("commits", {}).values())
    notes = [version["note"]] if "note" in version else []
    read = ", ".join([version["date"], *notes, *(f"commit {commit}" for commit in commits)])
    return f"{read}, from <{version['source']}>"


def _errors(head: dict[str, Any]) -> str:
    """Returns the envelope of errors, and the statuses and endpoints that have another one."""
    others: dict[str, list[str]] = {}
    for status, envelope in head.get("envelopes", {}).items():
        others.setdefault(envelope, []).append("unknown paths" if status == "unknown_route" else status)
    exceptions = [f"{', '.join(statuses)}: {ENVELOPES[envelope]}" for envelope, statuses in others.items()]
    for endpoint, own in head.get("envelopes_at", {}).items():
        exceptions += [f"{status} of {TITLES[endpoint]}: {ENVELOPES[envelope]}" for status, envelope in own.items()]
    return "; ".join([ENVELOPES[head["envelope"]], *exceptions])


def _level(field: Field, system: str) -> str | None:
    return field.support[system].level if system in field.support else None


def _differs(field: Field, system: str, endpoints: set[str]) -> bool:
    """Returns whether there is something to show that isn't shown for an enclosing field or the endpoint."""
    support = field.support.get(system)
    if support is None or support.remark:
        return support is not None
    outer = field.around
    while outer and _level(outer, system) != support.level:
        outer = outer.around
    return field.endpoint in endpoints and support.level not in ("full", "unknown") and outer is None


def _fields(fields: list[Field], system: str) -> Iterator[str]:
    """Yields the fields with a remark in a table, the others as a list by level."""
    remarked = [field for field in fields if field.support[system].remark]
    if remarked:
        yield "\n| field | level | remark |\n| --- | --- | --- |\n"
    for field in remarked:
        support = field.support[system]
        yield f"| {link(field)} | {chip(support.level)} | {cell(support.remark)} |\n"
    levels: dict[str, list[str]] = {}
    for field in fields:
        if not field.support[system].remark:
            levels.setdefault(field.support[system].level, []).append(link(field))
    for level, links in levels.items():
        yield f"\n{chip(level)} {', '.join(links)}\n"


def link(field: Field) -> str:
    """Returns a link to the row of a field."""
    part = "" if field.part == "request" else f" ({'answer' if field.part == 'response' else 'stream'})"
    return f"[`{field.path}`](../matrix.md#{field.name}){part}"


def references(source: Source) -> Iterator[Page]:
    """Yields the API reference of this server and of each system; each opens from the disk."""
    yield _reference("specvino", "Specvino", source.document)
    for system, name in SYSTEMS.items():
        yield _reference(system, name, source.dialect(system))


def _reference(system: str, name: str, document: dict[str, Any]) -> Page:
    return Page(f"reference/{system}.html", name, page(f"{name}: API reference", "", document))
