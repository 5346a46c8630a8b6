import pytest
from support.formats import Call, Function, Outcome, parsed


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}',
        '[TOOL_CALLS] get_weather[ARGS] {"city": "Paris"}\n',
        '[TOOL_CALLS]get_weather[ARGS]\n{ "city" : "Paris" }',
    ],
)
def test_one_call(text: str) -> None:
    assert parsed("devstral", text) == Outcome(calls=[Call("get_weather", {"city": "Paris"})])


def test_several_calls_and_text() -> None:
    got = parsed("devstral", 'A.[TOOL_CALLS]now[ARGS]{}[TOOL_CALLS]get_weather[ARGS]{"city": "[TOOL_CALLS]"} B.')
    assert got == Outcome("A. B.", calls=[Call("now", {}), Call("get_weather", {"city": "[TOOL_CALLS]"})])


def test_nothing_at_all_is_enough_where_there_are_no_parameters() -> None:
    assert parsed("devstral", "[TOOL_CALLS]now[ARGS]") == Outcome(calls=[Call("now", {})])
    assert parsed("devstral", "[TOOL_CALLS]f[ARGS] ", tools=[Function("f")]) == Outcome(calls=[Call("f", {})])


@pytest.mark.parametrize(
    "text",
    [
        "[TOOL_CALLS]now[ARGS]nothing",
        "[TOOL_CALLS]now[ARGS][]",
        "[TOOL_CALLS]now{}",
        "[TOOL_CALLS][ARGS]{}",
        "[TOOL_CALLS]now [ARGS]{}",
        "[ARGS]{}",
        "now[ARGS]{}",
        "[TOOL_CALLS] [TOOL_CALLS].",
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("devstral", text) == Outcome(text)


def test_arguments_that_break_off() -> None:
    got = parsed("devstral", '[TOOL_CALLS]get_weather[ARGS]{"city": Paris}')
    assert got == Outcome("Paris}", calls=[Call("get_weather", '{"city": ', complete=False)])
