import pytest
from support.formats import Call, Outcome, parsed

WEATHER = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
NOW = '{"name": "now", "arguments": {}}'
CALLS = [Call("get_weather", {"city": "Paris"}), Call("now", {})]


@pytest.mark.parametrize(
    "text",
    [
        f"functools[{WEATHER}, {NOW}]",
        f"functools[{WEATHER},{NOW}]",
        f"functools[\n  {WEATHER} ,\n  {NOW}\n]\n",
        f"functools[{WEATHER}, {NOW}",
        f"functools[{WEATHER}]functools[{NOW}]",
    ],
)
def test_calls(text: str) -> None:
    assert parsed("phi4", text) == Outcome(calls=CALLS)


@pytest.mark.parametrize(
    "text",
    [
        "functools",
        "functools[]",
        "functools[1, 2]",
        "from functools import reduce",
        "functools.reduce(f, [1])",
        "func",
        f"functools {WEATHER}",
        '[{"name": "now", "arguments": {}}]',
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("phi4", text) == Outcome(text)


def test_the_rest_after_an_element_that_is_no_call_is_text() -> None:
    got = parsed("phi4", f'functools[{NOW}, {{"name": "nope", "arguments": {{}}}}]')
    assert got == Outcome(', {"name": "nope", "arguments": {}}]', calls=[Call("now", {})])
    assert parsed("phi4", f"functools[{NOW}; {NOW}]") == Outcome(f"; {NOW}]", calls=[Call("now", {})])


def test_what_follows_the_array_isnt_part_of_it() -> None:
    assert parsed("phi4", f"functools[{NOW}], {NOW}") == Outcome(f", {NOW}", calls=[Call("now", {})])
