"""A page for each endpoint with its fields."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from specvino.portal.pages.page import Page, cell, html
from specvino.portal.source import ENDPOINTS, SYSTEMS, Field, Operation, Source, described

PARTS = {"request": "Request", "response": "Answer", "stream": "Events of the stream"}

FATES = {"honoured": "honoured", "noted": "no effect, by nature", "unsupported": "can't be honoured here"}

INTRODUCTION = """\
# {title}

<p class="operation"><span class="method {method_class}">{method}</span> <code>{path}</code></p>

{summary} {description}

[All of it in the API reference](../reference/specvino.html) · [Support by system](../matrix.md{anchor})
"""


def pages(source: Source) -> Iterator[Page]:
    for operation in source.operations:
        title = ENDPOINTS[operation.endpoint]
        yield Page(f"endpoints/{operation.endpoint}.md", title, "".join(_text(source, operation, title)))


def _text(source: Source, operation: Operation, title: str) -> Iterator[str]:
    definition = operation.definition
    fields = [field for field in source.fields if field.endpoint == operation.endpoint]
    summary = definition["summary"]
    yield INTRODUCTION.format(
        title=title,
        method=operation.method,
        method_class=operation.method.lower(),
        path=operation.path,
        summary=summary if summary.endswith("?") else f"{summary}.",
        description=described(definition),
        anchor=f"#{operation.endpoint}" if fields else "",
    )
    yield from _example(definition)
    yield from _parameters(operation)
    for part, heading in PARTS.items():
        if several := [field for field in fields if field.part == part]:
            yield f'\n## {heading}\n\n<div class="fields" markdown="0">\n'
            yield from map(_field, several)
            yield "</div>\n"
    if "x-stream" in definition:
        yield f"\nHow the events may follow each other: [Streams](../streams.md#{operation.endpoint}).\n"
    if refusals := definition.get("x-refusals"):
        yield "\n## Refused although valid\n\n| code | when |\n| --- | --- |\n"
        yield from (
            f"| [`{each['code']}`](../errors.md#{each['code']}) | {cell(each['when'])} |\n" for each in refusals
        )


def _example(definition: Mapping[str, Any]) -> Iterator[str]:
    body = definition.get("requestBody", {}).get("content", {}).get("application/json", {})
    answer = definition["responses"]["200"]["content"].get("application/json", {})
    for heading, media in (("A request", body), ("An answer", answer)):
        for example in list(media.get("examples", {}).values())[:1]:
            shown = json.dumps(example["value"], indent=2, ensure_ascii=False)
            yield f"\n**{heading}**\n\n```json\n{shown}\n```\n"


def _parameters(operation: Operation) -> Iterator[str]:
    for where, heading in (("path", "In the path"), ("query", "In the query")):
        if several := [each for each in operation.parameters if each["in"] == where]:
            yield f"\n## {heading}\n\n| name | type | what it is |\n| --- | --- | --- |\n"
            for each in several:
                yield f"| `{each['name']}` | {cell(kind(each['schema']))} | {cell(described(each))} |\n"


def _field(field: Field) -> str:
    levels = "".join(_level(field, system, name) for system, name in SYSTEMS.items() if system in field.support)
    origin = SYSTEMS.get(field.origin, "Specvino")
    marks = f'<span class="mark origin {field.origin}">from {origin}</span>' if field.origin != "openai" else ""
    anchor = escape(field.name, quote=True)
    return (
        f'<article class="field" id="{anchor}"><h3><a href="#{anchor}"><code>{escape(field.path)}</code></a></h3>'
        f'<p class="facts"><span>{html(kind(field.schema))}</span>{marks}{_fate(field)}</p>'
        f"<p>{html(field.description)}</p>"
        f'<p class="levels"><a href="../matrix.html#{anchor}">Support</a>{levels}</p></article>\n'
    )


def _level(field: Field, system: str, name: str) -> str:
    said = field.support[system]
    note = f' title="{escape(said.note, quote=True)}"' if said.note else ""
    star = "*" if said.note else ""
    return f'<span class="level {said.level}"{note}>{name}: {said.level}{star}</span>'


def _fate(field: Field) -> str:
    if field.part == "request":
        return f'<span class="mark {field.fate}">{FATES[field.fate]}</span>' if field.fate else ""
    return f'<span class="mark">{escape(sent(field.fate))}</span>' if field.fate else ""


def sent(emit: str) -> str:
    """When this server sends a field."""
    return {"never": "not sent", "null": "always null"}.get(emit, f"sent {emit}")


def kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words: `number, 0 to 2`."""
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[-1])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(each)}`" for each in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(kind(branch) for branch in schema[union]))
    types = schema.get("type", "any")
    named = " or ".join([types] if isinstance(types, str) else types)
    if types == "array" and isinstance(schema.get("items"), dict):
        named = f"list of {kind(schema['items'])}"
    low, high = schema.get("minimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is not None and high is not None:
        named += f", {low} to {'below ' if 'maximum' not in schema else ''}{high}"
    if schema.get("default") is not None:
        named += f", default `{json.dumps(schema['default'])}`"
    return named
