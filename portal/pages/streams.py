"""The protocols of streams, drawn from the x-stream tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from specvino.generated.streams import STREAMS, Machine, Stream
from specvino.portal.pages import Page
from specvino.portal.source import TITLES, Source

PADDING = 16
GAP = 8
PILL = 24
TITLE = 26

# Pixels of a letter, roughly: widths only have to be enough.
LETTER = 7.3

# Pixels after which pills go on in the next row.
WIDEST = 560


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing: its size in pixels and its SVG, at its own origin."""

    width: float
    height: float
    svg: str


def diagram(table: Stream) -> str:
    """Returns an SVG that takes its colours from the page around it."""
    outermost = next(machine for machine in table.machines if machine.inside is None)
    box = _box(outermost, table.machines, depth=0)
    title = escape(f"What a {outermost.name} is built of")
    size = f"{box.width + 2:.0f}"
    height = f"{box.height + 2:.0f}"
    return (
        f'<svg role="img" viewBox="0 0 {size} {height}" width="{size}" height="{height}" '
        f'xmlns="http://www.w3.org/2000/svg"><title>{title}</title><g transform="translate(1 1)">{box.svg}</g></svg>'
    )


def _box(machine: Machine, machines: Sequence[Machine], depth: int) -> Drawing:
    rows = list(_rows(machine, machines, depth))
    key = f"one for each {machine.key}" if machine.key else ""
    title_width = LETTER * (len(machine.name) + len(key) + 3)
    width = max([title_width, *(row.width for row in rows)]) + 2 * PADDING
    parts = [f'<text class="name" x="{PADDING}" y="{PADDING + 8}">{escape(machine.name)}']
    parts.append(f'<tspan class="key" dx="10">{escape(key)}</tspan></text>')
    y: float = PADDING + TITLE - 6
    for row in rows:
        parts.append(f'<g transform="translate({PADDING} {y:.0f})">{row.svg}</g>')
        y += row.height + GAP
    height = y - GAP + PADDING
    frame = f'<rect class="frame depth-{depth % 2}" width="{width:.0f}" height="{height:.0f}" rx="12"/>'
    return Drawing(width, height, frame + "".join(parts))


def _rows(machine: Machine, machines: Sequence[Machine], depth: int) -> Iterator[Drawing]:
    """Yields the rows in a machine's box, in order."""
    if machine.open:
        yield _pills("open", "begins", [machine.open])
    for prefix, facts in groupby(machine.body, _family):
        names = list(facts)
        # Events of one family share the beginning of their names: it is written once.
        short = [name.removeprefix(prefix) for name in names] if len(names) > 1 else names
        yield _pills("body", prefix.removesuffix(".") if len(names) > 1 else "", short)
    for inner in machines:
        if inner.inside == machine.name:
            yield _box(inner, machines, depth + 1)
    ends = [*filter(None, [machine.close]), *machine.end]
    if ends:
        yield _pills("end", "ends", ends)
    if failures := [*machine.fail, *machine.abort]:
        yield _pills("fail", "fails", failures)


def _family(name: str) -> str:
    return name[: name.rfind(".") + 1]


def _pills(kind: str, label: str, names: Sequence[str]) -> Drawing:
    """Returns a row of names, or several rows where they don't fit into one."""
    x = y = 0.0
    widest = 0.0
    parts: list[str] = []
    if label:
        parts.append(f'<text class="label" x="0" y="{PILL - 8}">{escape(label)}</text>')
        x = LETTER * len(label) + GAP
    indent = x
    for name in names:
        width = LETTER * len(name) + 20
        if x > indent and x + width > WIDEST:
            x, y = indent, y + PILL + GAP / 2
        parts.append(
            f'<g transform="translate({x:.0f} {y:.0f})">'
            f'<rect class="pill {kind}" width="{width:.0f}" height="{PILL}" rx="12"/>'
            f'<text class="fact" x="{width / 2:.0f}" y="{PILL - 8}" text-anchor="middle">{escape(name)}</text></g>'
        )
        x += width + GAP
        widest = max(widest, x - GAP)
    return Drawing(widest, y + PILL, "".join(parts))


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
        asked = "unless `stream` is false" if table.by_default else "with `stream: true`"
        yield f"[`{operation.method} {operation.path}`](endpoints/{operation.endpoint}.md) {asked}.\n"
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


FRAMINGS = {
    "data": "a `data:` line alone, with JSON in it",
    "event": "an `event:` line, the event's type, and a `data:` line, with JSON in it",
    "lines": "a line of JSON",
}


def _framing(table: Stream) -> str:
    end = f"The stream ends with `{table.terminator}`." if table.terminator else "The last event ends the stream."
    return f"Each event is {FRAMINGS[table.framing]}. {end}"


def _facts(table: Stream) -> Iterator[str]:
    if isinstance(table.classify, str):
        yield f"The fact that an event states is its `{table.classify}`.\n"
        return
    yield "| fact | is stated by |\n| --- | --- |"
    for rule in table.classify:
        of_each = f" in each of `{rule.each}`, of the one with its `{rule.key}`" if rule.each else ""
        alone = f", if `{rule.unless}` is empty" if rule.unless else ""
        yield f"| {rule.fact} | {' or '.join(f'`{path}`' for path in rule.at)}{of_each}{alone} |"
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
            but = f", but for the value of {_names(law['varying'])}" if "varying" in law else ""
            return f"`{law['whole']}` at the end holds what `{law['piece']}` was when each {law['of']} was closed{but}."
        case other:
            raise ValueError(f"the law {other!r} has no description")


def _names(fields: list[str]) -> str:
    return ", ".join(f"`{field}`" for field in fields)
