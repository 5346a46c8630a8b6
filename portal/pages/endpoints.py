"""A page for each endpoint with its fields."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from specvino.document.operations import Operation, Schema
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import Page, cell, html
from specvino.portal.pages.fields import description, handled, kind, names
from specvino.portal.source import TITLES, Field, Source, described
from specvino.portal.variants import variants

PARTS = {"request": "Request", "response": "Answer", "stream": "Events of the stream"}

INTRODUCTION = """\
# {title}

<p class="operation"><span class="method {method_class}">{method}</span> <code>{path}</code></p>

{summary} {description}

[All of it in the API reference](../reference/specvino.html) · [Support by system](../matrix.md{anchor})
"""


def pages(source: Source) -> Iterator[Page]:
    for operation in source.operations:
        title = TITLES[operation.endpoint]
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
    yield from _parameters(operation, source.schemas)
    for part, heading in PARTS.items():
        if several := [field for field in fields if field.part == part]:
            yield f'\n## {heading}\n\n<div class="fields" markdown="0">\n'
            yield from (_field(field, source.schemas) for field in several)
            yield "</div>\n"
    if "x-stream" in definition:
        yield f"\nHow the events may follow each other: [Streams](../streams.md#{operation.endpoint}).\n"
    if refusals := dict.fromkeys(_refusals(operation)):
        yield "\n## Refused although valid\n\n| code | when |\n| --- | --- |\n"
        yield from (f"| [`{code}`](../errors.md#{code}) | {cell(when)} |\n" for code, when in refusals)


def _refusals(operation: Operation) -> Iterator[tuple[str, str]]:
    yield from operation.conditions
    for refusal in operation.definition.get("x-refusals", ()):
        if "condition" not in refusal:
            yield refusal["code"], refusal["when"]


def _example(definition: Mapping[str, Any]) -> Iterator[str]:
    body = definition.get("requestBody", {}).get("content", {}).get("application/json", {})
    answer = definition["responses"]["200"]["content"].get("application/json", {})
    for heading, media in (("A request", body), ("An answer", answer)):
        for example in list(media.get("examples", {}).values())[:1]:
            shown = json.dumps(example["value"], indent=2, ensure_ascii=False)
            summary = f" ({example['summary'].lower()})" if "summary" in example else ""
            yield f"\n**{heading}**{summary}\n\n```json\n{shown}\n```\n"


def _parameters(operation: Operation, schemas: Mapping[str, Schema]) -> Iterator[str]:
    for where, heading in (("path", "In the path"), ("query", "In the query"), ("header", "In the headers")):
        if several := [parameter for parameter in operation.parameters if parameter["in"] == where]:
            yield f"\n## {heading}\n\n| name | type | what it is |\n| --- | --- | --- |\n"
            for parameter in several:
                words = f"{cell(kind(parameter['schema'], schemas))} | {cell(described(parameter))}"
                yield f"| `{parameter['name']}` | {words} |\n"


def _field(field: Field, schemas: Mapping[str, Schema]) -> str:
    """Returns a field as HTML. What all its owners share is shown once, differences in a list."""
    texts: list[Callable[[Schema], str]] = [
        lambda schema: html(kind(schema, schemas)),
        lambda schema: _handling(field, schema),
        lambda schema: html(description(schema, schemas)),
    ]
    several = variants(field.owners, lambda schema: tuple(text(schema) for text in texts))
    alike = [len({text(variant.schema) for variant in several}) == 1 for text in texts]
    kinds, handling, words = (text(several[0].schema) if same else "" for text, same in zip(texts, alike, strict=True))
    origins = " and ".join(SYSTEMS.get(origin, "Specvino") for origin in field.origins)
    marks = f'<span class="mark origin">from {origins}</span>' if field.origins != ["openai"] else ""
    anchor = escape(field.name, quote=True)
    differing = [text for text, same in zip(texts, alike, strict=True) if not same]
    listed = "".join(
        f"<li>{_variant(names(variant), [text(variant.schema) for text in differing])}</li>" for variant in several
    )
    levels = " ".join(_level(field, system, name) for system, name in SYSTEMS.items() if system in field.support)
    facts = " ".join(filter(None, [kinds and f"<span>{kinds}</span>", marks, handling]))
    return (
        f'<article class="field"><h3 id="{anchor}"><a href="#{anchor}"><code>{escape(field.path)}</code></a></h3>'
        + (f'<p class="facts">{facts}</p>' if facts else "")
        + (f"<p>{words}</p>" if words else "")
        + (f'<ul class="variants">{listed}</ul>' if differing else "")
        + f'<p class="levels"><a href="../matrix.html#{anchor}">Support</a> {levels}</p></article>\n'
    )


def _variant(named: str, texts: Sequence[str]) -> str:
    """Returns a variant as HTML; values that equal its name aren't repeated."""
    return f"{named}: {' · '.join(text for text in texts if text not in ('', named))}".removesuffix(": ")


def _level(field: Field, system: str, name: str) -> str:
    support = field.support[system]
    note = f' title="{escape(support.remark, quote=True)}"' if support.remark else ""
    star = "*" if support.remark else ""
    return f'<span class="level {support.level}"{note}>{name}: {support.level}{star}</span>'


def _handling(field: Field, schema: Schema) -> str:
    kind = f" {field.handling(schema)}" if field.part == "request" else ""
    return f'<span class="mark{kind}">{html(handled(field, schema))}</span>'
