"""Draws a stream's machines as an SVG: a box for each, those inside it within."""

from dataclasses import dataclass
from html import escape

from specvino.generated.streams import Machine, Stream

LINE = 22
PADDING = 14
LETTER = 7.3
"""Pixels of a letter, roughly: widths only have to be enough."""


@dataclass(frozen=True, slots=True)
class Box:
    """A drawn machine: its size and its SVG, at its own origin."""

    width: float
    height: float
    svg: str


def diagram(table: Stream) -> str:
    """An SVG that takes its colours from the page around it."""
    outermost = next(machine for machine in table.machines if machine.inside is None)
    box = _box(outermost, table.machines)
    title = escape(f"How a {outermost.name} is built")
    return (
        f'<svg role="img" viewBox="0 0 {box.width + 2:.0f} {box.height + 2:.0f}" width="{box.width + 2:.0f}" '
        f'height="{box.height + 2:.0f}" xmlns="http://www.w3.org/2000/svg"><title>{title}</title>'
        f'<g transform="translate(1 1)">{box.svg}</g></svg>'
    )


def _box(machine: Machine, machines: tuple[Machine, ...]) -> Box:
    inner = [_box(each, machines) for each in machines if each.inside == machine.name]
    key = f", one for each {machine.key}" if machine.key else ""
    lines: list[tuple[str, str, str]] = [("name", "", f"{machine.name}{key}")]
    if machine.open:
        lines.append(("open", "▸", machine.open))
    lines += [("body", "·", fact) for fact in machine.body]
    ends = [("end", "■", fact) for fact in filter(None, (machine.close, *machine.end))]
    ends += [("fail", "✕", fact) for fact in (*machine.fail, *machine.abort)]
    width = max(LETTER * (len(text) + 4) for _, _, text in lines + ends) + 2 * PADDING
    width = max([width, *(box.width + 2 * PADDING for box in inner)])
    parts: list[str] = []
    y: float = PADDING
    for kind, sign, text in lines:
        parts.append(_line(kind, sign, text, y))
        y += LINE
    for box in inner:
        parts.append(f'<g transform="translate({PADDING} {y:.0f})">{box.svg}</g>')
        y += box.height + PADDING
    for kind, sign, text in ends:
        parts.append(_line(kind, sign, text, y))
        y += LINE
    height = y + PADDING / 2
    frame = f'<rect class="frame" width="{width:.0f}" height="{height:.0f}" rx="8"/>'
    return Box(width, height, frame + "".join(parts))


def _line(kind: str, sign: str, text: str, y: float) -> str:
    x = PADDING if kind == "name" else PADDING + 16
    mark = f'<text class="{kind}" x="{PADDING}" y="{y + 12:.0f}">{sign}</text>' if sign else ""
    return f'{mark}<text class="{kind}" x="{x}" y="{y + 12:.0f}">{escape(text)}</text>'
