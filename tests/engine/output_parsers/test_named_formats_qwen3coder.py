from typing import Any

import pytest
from support.formats import Call, Function, Outcome, parsed

CITY = "<parameter=city>\nParis\n</parameter>"


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n<function=get_weather>\n{CITY}\n</function>\n</tool_call>",
        f"<tool_call><function=get_weather>{CITY}</function></tool_call>",
        f"<function=get_weather>\n{CITY}\n</function>\n</tool_call>",
        f"<function=get_weather>{CITY}</function>",
        "<tool_call><function=get_weather><parameter=city>Paris</parameter></function></tool_call>\n",
    ],
)
def test_one_call(text: str) -> None:
    assert parsed("qwen3coder", text) == Outcome(calls=[Call("get_weather", {"city": "Paris"})])


def test_several_calls_and_text() -> None:
    now = "<tool_call>\n<function=now>\n</function>\n</tool_call>"
    got = parsed(
        "qwen3coder", f"A\n{now}\n<tool_call>\n<function=get_weather>\n{CITY}\n</function>\n</tool_call>{now} B"
    )
    assert got == Outcome("A\n B", calls=[Call("now", {}), Call("get_weather", {"city": "Paris"}), Call("now", {})])


def test_one_line_break_on_each_side_is_framing() -> None:
    text = "<function=get_weather><parameter=city>\n\n a\nb \n\n</parameter></function>"
    assert parsed("qwen3coder", text) == Outcome(calls=[Call("get_weather", {"city": "\n a\nb \n"})])


def test_types_come_from_the_schema() -> None:
    written = {"city": "5", "days": "5", "detailed": "True", "options": "{'a': None}", "tags": '["x"]', "factor": "x"}
    text = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in written.items())
    arguments = {"city": "5", "days": 5, "detailed": True, "options": {"a": None}, "tags": ["x"], "factor": "x"}
    got = parsed("qwen3coder", f"<tool_call>\n<function=get_weather>\n{text}</function>\n</tool_call>")
    assert got == Outcome(calls=[Call("get_weather", arguments)])


def test_an_undeclared_argument_is_what_it_reads_as() -> None:
    tool = Function("f")
    text = "<function=f><parameter=a>1</parameter><parameter=b>one</parameter></function>"
    assert parsed("qwen3coder", text, tools=[tool]) == Outcome(calls=[Call("f", {"a": 1, "b": "one"})])


@pytest.mark.parametrize(
    "text",
    [
        "<function=>",
        "<tool_call>{}</tool_call>",
        "</function></tool_call>",
        "<parameter=city>\nParis\n</parameter>",
        "<tool_call><tool_call>.",
        "a < b, <function",
        "<function = now></function>",
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("qwen3coder", text) == Outcome(text)


@pytest.mark.parametrize(
    ("body", "passed_on", "left"),
    [
        ("<parameter=city>\nPar", '{"city": "Par', ""),
        ("<parameter=city>\nParis\n</parameter>\n", '{"city": "Paris"', ""),
        ("<parameter=city>\nParis\n</parameter>\n<param", '{"city": "Paris"', "\n<param"),
        ("<parameter=days>\n4", "", "<parameter=days>\n4"),
        ("Paris</function>", "", "Paris</function>"),
        ("<parameter=city>\nParis\n</parameter>junk", '{"city": "Paris"', "junk"),
        ("<parameter=city\nx", "", "<parameter=city\nx"),
    ],
)
def test_arguments_that_break_off(body: str, passed_on: str, left: str) -> None:
    got = parsed("qwen3coder", f"<tool_call><function=get_weather>{body}")
    assert got == Outcome(left, calls=[Call("get_weather", passed_on, complete=False)])


def test_a_name_without_end_is_soon_no_name() -> None:
    name = "k" * 300
    got = parsed("qwen3coder", f"<function=now><parameter={name}")
    assert got == Outcome(f"<parameter={name}", calls=[Call("now", "", complete=False)])


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": 5},
        {"properties": ["a"]},
        {"required": 5},
        {"required": [[], 1]},
        {"allOf": {"a": 1}},
        {"anyOf": [1, None, [], "x"]},
        {"minProperties": "x", "maxProperties": []},
        {"type": [[1]], "oneOf": [{"type": [{}]}]},
        {"$ref": "#/$defs/a", "$defs": 5},
    ],
)
def test_a_call_is_read_though_the_parameters_are_no_schema(schema: dict[str, Any]) -> None:
    """Nobody has checked the schema of a tool that isn't forced."""
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    assert parsed("qwen3coder", text, tools=[Function("f", schema)]).calls == [Call("f", {"a": 1})]
