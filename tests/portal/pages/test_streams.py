"""The diagrams of streams show all of the tables, and nothing lies over another."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from support.portal import SOURCE

from specvino.generated.streams import STREAMS
from specvino.portal.pages import dialects, streams
from specvino.portal.pages.streams import diagram

SVG = "{http://www.w3.org/2000/svg}"

[PAGE] = [page.text for page in streams.pages(SOURCE)]

each_table = pytest.mark.parametrize("table", STREAMS.values(), ids=STREAMS.keys())


def boxes(group, x=0.0, y=0.0):
    """Every rectangle as (kind, left, top, right, bottom)."""
    for element in group:
        if element.tag == f"{SVG}g":
            dx, dy = map(float, re.findall(r"[\d.]+", element.get("transform")))
            yield from boxes(element, x + dx, y + dy)
        elif element.tag == f"{SVG}rect":
            kind = element.get("class").split()[0]
            yield kind, x, y, x + float(element.get("width")), y + float(element.get("height"))


@each_table
def test_it_has_every_machine_and_every_fact(table) -> None:
    drawn = ElementTree.fromstring(diagram(table))
    names = {text.text for text in drawn.iter(f"{SVG}text") if text.get("class") == "name"}
    assert names == {machine.name for machine in table.machines}
    written = {text.text for text in drawn.iter(f"{SVG}text") if text.get("class") == "fact"}
    for machine in table.machines:
        for fact in filter(None, [machine.open, machine.close, *machine.end, *machine.fail, *machine.abort]):
            assert fact in written
        for fact in machine.body:
            assert written & {fact, fact.rpartition(".")[2]}


@each_table
def test_it_draws_within_its_size_and_nothing_over_another(table) -> None:
    drawn = ElementTree.fromstring(diagram(table))
    shapes = list(boxes(drawn))
    frames = [shape[1:] for shape in shapes if shape[0] == "frame"]
    pills = [shape[1:] for shape in shapes if shape[0] == "pill"]
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    assert len(frames) == len(table.machines)
    assert all(
        0 <= left < right <= width and 0 <= top < bottom <= height for left, top, right, bottom in frames + pills
    )
    for one, other in combinations(pills, 2):
        assert apart(one, other)
    for pill in pills:
        assert all(apart(pill, frame) or inside(pill, frame) for frame in frames)


@each_table
def test_the_page_has_it(table) -> None:
    assert diagram(table) in PAGE


def apart(one, other):
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def inside(one, other):
    return other[0] < one[0] and other[1] < one[1] and one[2] < other[2] and one[3] < other[3]


def test_every_stream_is_on_the_page_with_what_holds_beside() -> None:
    for operation in SOURCE.operations:
        if operation.endpoint in STREAMS:
            section = PAGE.split(f"{{ #{operation.endpoint} }}")[1].split("\n## ")[0]
            assert f"`{operation.method} {operation.path}`" in section
    for field in ("`id`, `object`, `created`, `model` are the same", "`sequence_number` counts the events, from 0"):
        assert field in PAGE
    assert "| finish | `finish_reason` in each of `choices`, of the one with its `index` |" in PAGE
    assert "The stream ends with `[DONE]`." in PAGE


def test_the_framing_of_each_stream_is_named() -> None:
    kinds = {table.framing for table in STREAMS.values()}
    assert kinds == streams.FRAMINGS.keys() == dialects.FRAMINGS.keys()
    assert "Each event is a line of JSON." in PAGE
    assert "unless `stream` is false" in PAGE
