import pytest
from support.formats import Call, Outcome, parsed

WEATHER = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
NOW = '{"name": "now", "arguments": {}}'
CALLS = [Call("get_weather", {"city": "Paris"}), Call("now", {})]


@pytest.mark.parametrize(
    "text",
    [
        f"[TOOL_CALLS] [{WEATHER}, {NOW}]",
        f"[TOOL_CALLS][{WEATHER},{NOW}]",
        f"[TOOL_CALLS]\n[ {WEATHER} , {NOW} ]\n",
        f"[{WEATHER}, {NOW}]",
        f" [{WEATHER}, {NOW}]",
        '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "a1B2c3D4e"}, ' + NOW,
    ],
)
def test_calls(text: str) -> None:
    assert parsed("mistral", text) == Outcome(calls=CALLS)


def test_text_before_the_marker() -> None:
    got = parsed("mistral", f"Sure. [TOOL_CALLS] [{NOW}] ok")
    assert got == Outcome("Sure.  ok", calls=[Call("now", {})])


@pytest.mark.parametrize(
    "text",
    [
        "[TOOL_CALLS] []",
        f"[TOOL_CALLS] {NOW}",
        "[TOOL_CALL",
        "[1, 2]",
        "[",
        '[{"name": "Bob", "arguments": {}}]',
        f"The list: [{NOW}]",
        '[{"a": 1}]',
        "[TOOL_CALLS] see [ARGS]",
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("mistral", text) == Outcome(text)
