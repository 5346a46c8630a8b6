"""A page for each endpoint with its fields."""

import json
from collections.abc import Iterator
from typing import Any

from specvino.portal.pages.page import Page
from specvino.portal.source import ENDPOINTS, Field, Operation, Source

PARTS = {
    "request": ("Request", "becomes of it"),
    "response": ("Answer", "is sent"),
    "stream": ("Stream", "is sent"),
}

FATES = {"noted": "no effect, by nature", "unsupported": "can't be honoured here", "never": "never", "null": "always null"}


def pages(source: Source) -> Iterator[Page]:
    for operation in source.operations:
        title = ENDPOINTS[operation.endpoint]
        yield Page(f"endpoints/{operation.endpoint}.md", title, "".join(_text(source, operation, title)))


def _text(source: Source, operation: Operation, title: str) -> Iterator[str]:
    definition = operation.definition
    yield f"# {title}\n\n`{operation.method} {operation.path}`\n\n{_sentence(definition['summary'])}"
    yield f" {definition.get('description', '')}\n"
    yield from _example(source, definition)
    fields = [field for field in source.fields if field.endpoint == operation.endpoint]
    for part, (heading, column) in PARTS.items():
        if several := [field for field in fields if field.part == part]:
            yield f"\n## {heading}\n\n| field | type | {column} | what it is |\n| --- | --- | --- | --- |\n"
            yield from map(_row, several)
    if "x-stream" in definition:
        yield f"\nHow the events may follow each other: [Streams](../streams.md#{operation.endpoint}).\n"
    if refusals := definition.get("x-refusals"):
        yield "\n## Refused although valid\n\n| code | when |\n| --- | --- |\n"
        yield from (f"| [`{each['code']}`](../errors.md) | {_cell(each['when'])} |\n" for each in refusals)


def _example(source: Source, definition: Any) -> Iterator[str]:
    body = definition.get("requestBody", {}).get("content", {}).get("application/json", {})
    answer = definition["responses"]["200"]["content"].get("application/json", {})
    for heading, media in (("A request", body), ("An answer", answer)):
        for example in list(media.get("examples", {}).values())[:1]:
            shown = json.dumps(example["value"], indent=2, ensure_ascii=False)
            yield f"\n{heading}:\n\n```json\n{shown}\n```\n"


def _row(field: Field) -> str:
    fate = FATES.get(field.fate, field.fate)
    said = _cell(field.description)
    return f"| [`{field.path}`](../matrix.md#{field.name}) | {_cell(kind(field.schema))} | {fate} | {said} |\n"


def kind(schema: Any) -> str:
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
    bounds = [schema.get(name) for name in ("minimum", "maximum")]
    if None not in bounds:
        named += f", {bounds[0]} to {bounds[1]}"
    return named


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
