import pytest
from support.formats import Call, Outcome, parsed

WEATHER = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
CALL = Call("get_weather", {"city": "Paris"})


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{WEATHER}</tool_call>",
        f"<tool_call>\n{WEATHER}\n</tool_call>",
        f"  <tool_call> \n\t{WEATHER}  </tool_call>\n",
        f"<tool_call>{WEATHER}",
        f"<tool_call>{WEATHER}</tool_c",
        '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>',
        '<tool_call>{\n  "name" : "get_weather" ,\n  "arguments" : {"city": "Paris"}\n}</tool_call>',
        '<tool_call>{"arguments": {"city": "Paris"}, "name": "get_weather"}</tool_call>',
        '<tool_call>{"type": "function", "name": "get_weather", "parameters": {"city": "Paris"}}</tool_call>',
        '<tool_call>{"id": {"a": [1]}, "name": "get_weather", "arguments": {"city": "Paris"}, "x": 1}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}',
    ],
)
def test_one_call(text: str) -> None:
    assert parsed("hermes3", text) == Outcome(calls=[CALL])


def test_several_calls_and_text() -> None:
    now = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    got = parsed("hermes3", f"One moment.\n<tool_call>{WEATHER}</tool_call>\n{now}{now} Done.")
    assert got == Outcome("One moment.\n Done.", calls=[CALL, Call("now", {}), Call("now", {})])


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call></tool_call>",
        "<tool_call>hello</tool_call>",
        "The tag <tool_call> begins a call.",
        '<tool_call>{"name": "get_weather"}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": "x"}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": null}</tool_call>',
        '<tool_call>{"name": "get_weather", "arguments": [{"city": "Paris"}]}</tool_call>',
        '<tool_call>{"name": 5, "arguments": {}}</tool_call>',
        '<tool_call>{"id": x, "name": "get_weather", "arguments": {}}</tool_call>',
        '<tool_call>{"arguments": {"city": }, "name": "get_weather"}</tool_call>',
        '<tool_call>{"name" "get_weather", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "get_weather"; "arguments": {}}</tool_call>',
        '<tool_call>[{"name": "get_weather", "arguments": {}}]</tool_call>',
        '<tool_call>{"reason": "x", "name": "get_weather", "arguments": {}}</tool_call>',
        '<tool_call>{"arguments": {}, "arguments": {}}</tool_call>',
        '{"name": "get_weather", "arguments": {"city": "Paris"}}',
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("hermes3", text) == Outcome(text)


def test_arguments_before_a_name_that_never_comes_are_no_text() -> None:
    text = '<tool_call>{"arguments": {"city": "Par'
    assert parsed("hermes3", text) == parsed("hermes3", text, cut=True) == Outcome()


@pytest.mark.parametrize(
    ("arguments", "passed_on", "left"),
    [
        ('{"city": Paris}}</tool_call>', '{"city": ', "Paris}}</tool_call>"),
        ('{"city": "Paris",}}</tool_call>', '{"city": "Paris",', "}}</tool_call>"),
        ("{'city': 'Paris'}}</tool_call>", "{", "'city': 'Paris'}}</tool_call>"),
        ('{"days": 01}}</tool_call>', '{"days": 0', "1}}</tool_call>"),
        ('{"city": "Par', '{"city": "Par', ""),
        ('{"city": "Paris"', '{"city": "Paris"', ""),
        ("{", "{", ""),
    ],
)
def test_arguments_that_break_off(arguments: str, passed_on: str, left: str) -> None:
    got = parsed("hermes3", '<tool_call>{"name": "get_weather", "arguments": ' + arguments)
    assert got == Outcome(left, calls=[Call("get_weather", passed_on, complete=False)])


def test_a_line_break_within_a_string_is_passed_on_as_its_escape() -> None:
    got = parsed("hermes3", '<tool_call>{"name": "get_weather", "arguments": {"city": "a\nb\tc"}}</tool_call>')
    assert got == Outcome(calls=[Call("get_weather", {"city": "a\nb\tc"})])


def test_what_follows_the_arguments_in_a_broken_object_is_text() -> None:
    got = parsed("hermes3", '<tool_call>{"name": "now", "arguments": {}, "x" 5}</tool_call>')
    assert got == Outcome(', "x" 5}</tool_call>', calls=[Call("now", {})])
    got = parsed("hermes3", '<tool_call>{"name": "now", "arguments": {}, "x": y}</tool_call>')
    assert got == Outcome(', "x": y}</tool_call>', calls=[Call("now", {})])
