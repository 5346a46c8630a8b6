"""A page for each system: what differs there."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from specvino.portal.pages.page import Page, cell
from specvino.portal.source import ENDPOINTS, SYSTEMS, Field, Source

FORMS = {
    "openai": 'the object `{"error": {"message", "type", "param", "code"}}`',
    "string": 'a text, `{"error": "…"}`',
    "detail": '`{"detail": …}`, as FastAPI gives it',
    "json text": "a JSON text within a JSON text",
    "text": "plain text",
}

UNKNOWN = {"ignored": "have no effect", "refused": "are an error"}

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
        name=SYSTEMS[system],
        system=system,
        paths=", ".join(f"`{server['url']}`" for server in document["servers"]),
        form=FORMS[head["errors"]["envelope"]],
        unknown=UNKNOWN[head["unknown_fields"]],
        operations=", ".join(operations),
    )
    yield "## Streams\n\n| endpoint | framing | ends with | order |\n| --- | --- | --- | --- |\n"
    for endpoint, said in head["stream"].items():
        framing = "`event:` and `data:`" if said["framing"] == "event" else "`data:` alone"
        end = f"`{said['terminator']}`" if said["terminator"] else "nothing"
        order = "as [documented](../streams.md)" if said.get("table", True) else "another one"
        yield f"| {ENDPOINTS[endpoint]} | {framing} | {end} | {order} |\n"
    yield "\n## What is different\n\nFields that aren't supported in full, and remarks on those that are.\n"
    differing = [field for field in source.fields if system in field.support and _differs(field, system)]
    for endpoint, fields in groupby(differing, lambda field: field.endpoint):
        yield f"\n### {ENDPOINTS[endpoint]}\n\n| field | level | remark |\n| --- | --- | --- |\n"
        for field in fields:
            said = field.support[system]
            part = "" if field.part == "request" else f" ({'answer' if field.part == 'response' else 'stream'})"
            level = f'<span class="level {said.level}">{said.level}</span>'
            yield f"| [`{field.path}`](../matrix.md#{field.name}){part} | {level} | {cell(said.remark)} |\n"


def _differs(field: Field, system: str) -> bool:
    said = field.support[system]
    return said.level != "full" or bool(said.remark)
