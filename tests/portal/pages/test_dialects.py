"""The page of a system tells all that differs there, and nothing twice."""

import re

import pytest

from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import dialects, matrix
from specvino.portal.source import TITLES, Source

SOURCE = Source()

PAGES = {page.path.removeprefix("dialects/").removesuffix(".md"): page.text for page in dialects.pages(SOURCE)}


def row(system, name):
    """A row of a page's tables."""
    return next(line for line in PAGES[system].splitlines() if line.startswith(f"| {name} |"))


def linked(system):
    return set(re.findall(r"\(\.\./matrix\.md#([^)]+)\)", PAGES[system]))


def endpoints(system):
    return {
        each["x-endpoint"]
        for item in SOURCE.dialect(system)["paths"].values()
        for each in item.values()
        if isinstance(each, dict)
    }


def test_all_shapes_of_errors() -> None:
    assert '; 401: a string, `{"error": "…"}`; 405: `{"detail": …}`, as FastAPI gives it; 4' in row("vllm", "Errors")
    assert '503 of Messages: the object `{"type": "error", "error":' in row("vllm", "Errors")
    others = '; 401, 404, 405, 422: `{"detail": …}`, as FastAPI gives it; 500: plain text |'
    assert row("mlc-llm", "Errors").endswith(others)
    assert '404 of One model: the object `{"error":' in row("sglang", "Errors")
    for system in SYSTEMS:
        for status, envelope in SOURCE.dialect(system)["x-dialect"]["errors"].get("envelopes", {}).items():
            assert ("unknown paths" if status == "unknown_route" else status) in row(system, "Errors")
            assert dialects.ENVELOPES[envelope] in row(system, "Errors")


def test_what_is_different_in_a_stream() -> None:
    kinds = set()
    for system in SYSTEMS:
        for endpoint, said in SOURCE.dialect(system)["x-dialect"]["stream"].items():
            words = said.get("order", "as [documented](../streams.md)")
            assert row(system, TITLES[endpoint]).endswith(f"| {words} |")
            kinds.add("order" in said)
    assert kinds == {True, False}


@pytest.mark.parametrize("system", SYSTEMS)
def test_all_that_differs_is_told_once(system) -> None:
    had, told = endpoints(system) | {"error"}, linked(system)
    for field in SOURCE.fields:
        said = field.support.get(system)
        if said and said.remark:
            assert field.name in told
            assert said.remark.replace("|", "\\|") in PAGES[system]
        elif said is None or field.endpoint not in had or said.level in ("full", "unknown"):
            assert field.name not in told
        else:
            around, outer = [], field.around
            while outer:
                around.append(outer.support[system].level if system in outer.support else None)
                outer = outer.around
            assert (field.name in told) != (said.level in around), field.name


@pytest.mark.parametrize("system", SYSTEMS)
def test_fields_without_remark_stand_by_level(system) -> None:
    for line in PAGES[system].splitlines():
        if found := re.match(r'<span class="level (\w+)">', line):
            names = re.findall(r"matrix\.md#([^)]+)\)", line)
            assert names
            levels = {field.support[system].level for field in SOURCE.fields if field.name in names}
            assert levels == {found[1]}


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_nobody_knows_is_counted(system) -> None:
    [page] = matrix.pages(SOURCE)
    count = len(re.findall(rf'data-levels="[^"]*\b{system}:unknown\b', page.text))
    sentence = f"It is unknown what {SYSTEMS[system]} does with {count} fields"
    assert (sentence in PAGES[system]) == (count > 0)
    assert (f"matrix.md?system={system}&level=unknown" in PAGES[system]) == (count > 0)
