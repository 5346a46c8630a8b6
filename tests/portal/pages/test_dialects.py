"""The page of a system tells all that differs there, and nothing twice."""

import re
from functools import cache

import pytest
from support.portal import SOURCE

from specvino.cli.docs import parts
from specvino.generated.systems import SYSTEMS
from specvino.portal.pages import dialects, matrix
from specvino.portal.source import TITLES


@cache
def pages():
    """The pages by system."""
    return {page.path.removeprefix("dialects/").removesuffix(".md"): page.text for page in dialects.pages(SOURCE)}


def row(system, name):
    """A row of a page's tables."""
    return next(line for line in pages()[system].splitlines() if line.startswith(f"| {name} |"))


def linked(system):
    return set(re.findall(r"\(\.\./matrix\.md#([^)]+)\)", pages()[system]))


def endpoints(system):
    return {
        operation["x-endpoint"]
        for item in SOURCE.dialect(system)["paths"].values()
        for operation in item.values()
        if isinstance(operation, dict)
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
        for endpoint, stream in SOURCE.dialect(system)["x-dialect"]["stream"].items():
            words = stream.get("order", "as [documented](../streams.md)")
            assert row(system, TITLES[endpoint]).endswith(f"| {words} |")
            kinds.add("order" in stream)
    assert kinds == {True, False}


@pytest.mark.parametrize("system", SYSTEMS)
def test_all_that_differs_is_told_once(system) -> None:
    had, described = endpoints(system) | {"error"}, linked(system)
    for field in SOURCE.fields:
        support = field.support.get(system)
        if support and support.remark:
            assert field.name in described
            assert support.remark.replace("|", "\\|") in pages()[system]
        elif support is None or field.endpoint not in had or support.level in ("full", "unknown"):
            assert field.name not in described
        else:
            around, outer = [], field.around
            while outer:
                around.append(outer.support[system].level if system in outer.support else None)
                outer = outer.around
            assert (field.name in described) != (support.level in around), field.name


@pytest.mark.parametrize("system", SYSTEMS)
def test_fields_without_remark_stand_by_level(system) -> None:
    for line in pages()[system].splitlines():
        if match := re.match(r'<span class="level (\w+)">', line):
            names = re.findall(r"matrix\.md#([^)]+)\)", line)
            assert names
            levels = {field.support[system].level for field in SOURCE.fields if field.name in names}
            assert levels == {match[1]}


@pytest.fixture(scope="module")
def rows():
    """The levels in each row of the matrix."""
    [page] = matrix.Matrix(SOURCE, parts().evidence, "").pages()
    return [re.findall(r'<td>(?:<a class="level (\w+)")?', row) for row in page.text.split("<tr id=")[1:]]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_nobody_knows_is_counted(system, rows) -> None:
    count = sum(levels[1 + list(SYSTEMS).index(system)] == "unknown" for levels in rows)
    sentence = f"It is unknown what {SYSTEMS[system]} does with {count} fields"
    assert (sentence in pages()[system]) == (count > 0)
    assert (f"matrix.md?system={system}&level=unknown" in pages()[system]) == (count > 0)
