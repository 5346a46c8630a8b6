"""The protocols of streams, drawn from the x-stream tables."""

from collections.abc import Iterator
from typing import Any

from specvino.generated.streams import STREAMS, Stream
from specvino.portal.diagram import diagram
from specvino.portal.pages.page import Page
from specvino.portal.source import TITLES, Source

HEAD = """\
# Streams

A stream is a row of server-sent events. Each event states facts, and facts drive the things that the stream builds, one
inside the other: a choice is opened by its role and closed by its finish; a part lies in an item, an item in a
response. The diagrams are drawn from the tables by which this project's server is tested and any server is judged.

<ul class="legend" markdown="0">
<li><span class="fact-key open"></span> begins a thing</li>
<li><span class="fact-key body"></span> may follow, in any number</li>
<li><span class="fact-key end"></span> ends it</li>
<li><span class="fact-key fail"></span> ends it and all that is in it</li>
</ul>
"""


def pages(source: Source) -> Iterator[Page]:
    yield Page("streams.md", "Streams", "\n".join(_text(source)))


def _text(source: Source) -> Iterator[str]:
    yield HEAD
    drawn: dict[Stream, str] = {}
    for operation in source.operations:
        table = STREAMS.get(operation.endpoint)
        if table is None:
            continue
        name = TITLES[operation.endpoint]
        yield f"## {name} {{ #{operation.endpoint} }}\n"
        yield f"[`{operation.method} {operation.path}`](endpoints/{operation.endpoint}.md) with `stream: true`.\n"
        if table in drawn:
            yield f"The events are those of [{TITLES[drawn[table]]}](#{drawn[table]}).\n"
            continue
        drawn[table] = operation.endpoint
        yield f"{_framing(table)}\n"
        yield f'<figure class="stream" markdown="0" tabindex="0" role="region" aria-label="{name}">'
        yield f"{diagram(table)}</figure>\n"
        yield from _facts(table)
        yield "What holds beside:\n"
        yield from (f"- {_law(law)}" for law in operation.definition["x-stream"]["laws"])
        yield ""


def _framing(table: Stream) -> str:
    lines = (
        "an `event:` line, the event's type, and a `data:` line" if table.framing == "event" else "a `data:` line alone"
    )
    end = f"The stream ends with `{table.terminator}`." if table.terminator else "Nothing comes behind the last event."
    return f"Each event is {lines}, with JSON in it. {end}"


def _facts(table: Stream) -> Iterator[str]:
    if isinstance(table.classify, str):
        yield f"The fact that an event states is its `{table.classify}`.\n"
        return
    yield "| fact | is stated by |\n| --- | --- |"
    for rule in table.classify:
        each = f" in each of `{rule.each}`, of the one with its `{rule.key}`" if rule.each else ""
        yield f"| {rule.fact} | {' or '.join(f'`{path}`' for path in rule.at)}{each} |"
    yield ""


def _law(law: str | dict[str, Any]) -> str:
    if isinstance(law, str):
        return {
            "keys dense": "The keys of choices, items and parts are 0, 1, 2, … without a gap.",
            "children close first": "What is inside is closed before what is around it.",
        }[law]
    match law["law"]:
        case "constant":
            return f"{_names(law['fields'])} are the same in all events."
        case "one fact":
            return f"An event states one fact of a {law['of']} at most."
        case "consecutive":
            return f"`{law['field']}` counts the events, from {law['from']}."
        case "one id":
            return f"Each {law['of']} has one id, and no two have the same: {_names(law['fields'])}."
        case "joined deltas":
            return "The pieces of each text make up the whole that ends it."
        case "whole equals pieces":
            return f"`{law['whole']}` at the end holds what `{law['piece']}` was when each {law['of']} was closed."
        case other:
            raise ValueError(f"nothing says the law {other!r} in words")


def _names(fields: list[str]) -> str:
    return ", ".join(f"`{field}`" for field in fields)
