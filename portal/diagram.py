"""Draws a stream's machines as an SVG: a box for each, those inside it within, and in it what drives it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from specvino.generated.streams import Machine, Stream

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
    """Holds its size in pixels and its SVG, at its own origin."""

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
    """Yields what follows each other within a machine's box."""
    if machine.open:
        yield _pills("open", "begins", [machine.open])
    for prefix, facts in groupby(machine.body, _family):
        names = list(facts)
        # Events of one family share the beginning of their names: it is written once.
        short = [name.removeprefix(prefix) for name in names] if len(names) > 1 else names
        yield _pills("body", prefix.removesuffix(".") if len(names) > 1 else "", short)
    for each in machines:
        if each.inside == machine.name:
            yield _box(each, machines, depth + 1)
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
