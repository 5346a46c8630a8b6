"""The figures as a picture: an SVG of bars, small enough to be written here."""

from collections.abc import Callable, Sequence
from statistics import median

from bench.overhead import GOALS, Compared

_WIDTH, _HEIGHT, _LEFT, _BASE = 230, 190, 34, 150
_BAR = "#7b3f5c"

# A title, the value of a load, and what is demanded of it.
_Panel = tuple[str, Callable[[Compared], float], float]
_PANELS: Sequence[_Panel] = (
    ("tokens/s, HTTP / bare", lambda comparison: comparison.tokens("HTTP"), GOALS["tokens"]),
    ("first token, HTTP / bare", lambda comparison: comparison.first("HTTP"), GOALS["first"]),
    ("server CPU, µs a token", lambda comparison: median(comparison.sides["HTTP"].server_us), GOALS["server_us"]),
)


def svg(compared: Sequence[Compared]) -> str:
    """A panel for each figure: a bar for each number of streams, and a line where the goal is."""
    panels = "".join(
        f'<g transform="translate({index * _WIDTH} 0)">{_panel(panel, compared)}</g>'
        for index, panel in enumerate(_PANELS)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {len(_PANELS) * _WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="11" fill="#777">{panels}</svg>\n'
    )


def _panel(panel: _Panel, compared: Sequence[Compared]) -> str:
    title, value, goal = panel
    values = [value(comparison) for comparison in compared]
    unit = (_BASE - 40) / max(*values, goal)
    step = (_WIDTH - _LEFT - 10) / len(values)
    shapes = [f'<text x="{_LEFT}" y="16">{title}</text>']
    for index, (comparison, ratio) in enumerate(zip(compared, values, strict=True)):
        x, top = _LEFT + index * step, _BASE - ratio * unit
        shapes += [
            f'<rect x="{x:.1f}" y="{top:.1f}" width="{step * 0.7:.1f}" height="{_BASE - top:.1f}" fill="{_BAR}"/>',
            f'<text x="{x:.1f}" y="{top - 4:.1f}">{ratio:.{0 if ratio >= 10 else 2}f}</text>',
            f'<text x="{x:.1f}" y="{_BASE + 14}">{comparison.streams}</text>',
        ]
    y = _BASE - goal * unit
    shapes.append(
        f'<line x1="{_LEFT - 6}" x2="{_WIDTH - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#777" stroke-dasharray="4 3"/>'
        f'<text x="2" y="{y + 4:.1f}">{goal:g}</text>'
    )
    shapes.append(f'<text x="{_LEFT}" y="{_BASE + 30}">streams</text>')
    return "".join(shapes)
