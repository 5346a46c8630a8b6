"""A page for each system: what differs there."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from specvino.portal.pages.page import Page
from specvino.portal.source import ENDPOINTS, SYSTEMS, Field, Source

FORMS = {
    "openai": 'the object `{"error": {"message", "type", "param", "code"}}`',
    "string": 'a text, `{"error": "…"}`',
    "detail": '`{"detail": …}`, as FastAPI gives it',
    "json text": "a JSON text within a JSON text",
    "text": "plain text",
}

INTRODUCTION = """\
# {name}

The API as {name} has it: [openapi-{system}.json](../openapi/{system}.json) is its document (OpenAPI 3.1), `specvino spec --dialect {system}`
prints it, `specvino conform --dialect {system} URL` judges a server by it, and `specvino sdk python --dialect {system} -o DIR` makes a client
from it.

|  |  |
| --- | --- |
| Base paths | {paths} |
| Errors | {form} |
| Unknown fields | {unknown} |
| Operations | {operations} |

"""


def pages(source: Source) -> Iterator[Page]:
    for system, name in SYSTEMS.items():
        yield Page(f"dialects/{system}.md", name, "".join(_text(source, system)))


def _text(source: Source, system: str) -> Iterator[str]:
    document = source.dialect(system)
    head: dict[str, Any] = document["x-dialect"]
    operations = [
        f"`{method.upper()} {path}`"
        for path, item in document["paths"].items()
        for method in item
        if method in ("get", "post", "delete")
    ]
    yield INTRODUCTION.format(
        name=document["info"]["title"].split(":")[0],
        system=system,
        paths=", ".join(f"`{server['url']}`" for server in document["servers"]),
        form=FORMS[head["errors"]["envelope"]],
        unknown=head["unknown_fields"],
        operations=", ".join(operations),
    )
    yield "## Streams\n\n| endpoint | framing | ends with | order |\n| --- | --- | --- | --- |\n"
    for endpoint, said in head["stream"].items():
        framing = "`event:` and `data:`" if said["framing"] == "event" else "`data:` alone"
        end = f"`{said['terminator']}`" if said["terminator"] else "nothing"
        order = "as [documented](../streams.md)" if said.get("table", True) else "another one"
        yield f"| {ENDPOINTS[endpoint]} | {framing} | {end} | {order} |\n"
    yield "\n## What is different\n\nFields that the system doesn't support in full, and remarks on those that it does.\n"
    differing = [field for field in source.fields if system in field.support and _differs(field, system)]
    for endpoint, fields in groupby(differing, lambda field: field.endpoint):
        yield f"\n### {ENDPOINTS[endpoint]}\n\n| field | level | remark |\n| --- | --- | --- |\n"
        for field in fields:
            said = field.support[system]
            part = "" if field.part == "request" else f" ({'answer' if field.part == 'response' else 'stream'})"
            note = said.note.replace("|", "\\|")
            yield f"| [`{field.path}`](../matrix.md#{field.name}){part} | {said.level} | {note} |\n"


def _differs(field: Field, system: str) -> bool:
    said = field.support[system]
    return said.level != "full" or bool(said.note)
