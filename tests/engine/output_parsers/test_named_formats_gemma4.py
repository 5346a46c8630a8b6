import pytest
from support.formats import Call, Outcome, parsed

Q = '<|"|>'


@pytest.mark.parametrize(
    ("members", "meant"),
    [
        (f"city:{Q}x{Q},days:42,detailed:true", {"city": "x", "days": 42, "detailed": True}),
        (f" city : {Q}x{Q} ,\n days : 42 ", {"city": "x", "days": 42}),
        (f"options:{{a:{Q}b{Q},c:[1,{Q}d{Q},{{e:null}}]}}", {"options": {"a": "b", "c": [1, "d", {"e": None}]}}),
        (f"tags:[{Q}a,b{Q},{Q}]{Q}]", {"tags": ["a,b", "]"]}),
        (f'city:{Q}a "quoted" \\n text{Q}', {"city": 'a "quoted" \\n text'}),
        (f"city:{Q}}}<tool_call|>{Q}", {"city": "}<tool_call|>"}),
        ('"city":"x\\n"', {"city": "x\n"}),
        (f"{Q}unit-name{Q}:{Q}C{Q}", {"unit-name": "C"}),
        (f"city:{Q}{Q}", {"city": ""}),
        ("", {}),
    ],
)
def test_arguments(members: str, meant: dict[str, object]) -> None:
    got = parsed("gemma4", f"<|tool_call>call:get_weather{{{members}}}<tool_call|>")
    assert got == Outcome(calls=[Call("get_weather", meant)])


@pytest.mark.parametrize(
    "text",
    [
        "<|tool_call>call:now{}call:now{}<tool_call|>",
        "<|tool_call>call:now{}, call:now{}<tool_call|>",
        "<|tool_call> call:now{}\ncall:now{}\n<tool_call|>\n",
        "<|tool_call>call:now{}<tool_call|><|tool_call>call:now{}<tool_call|>",
        "<|tool_call>call:now{}call:now{}",
    ],
)
def test_several_calls(text: str) -> None:
    assert parsed("gemma4", text) == Outcome(calls=[Call("now", {})] * 2)


@pytest.mark.parametrize(
    "text",
    [
        "<|tool_call>now{}<tool_call|>",
        "<|tool_call>call:nope{}<tool_call|>",
        "<|tool_call>call:now()<tool_call|>",
        "call:now{}",
        "<tool_call|>",
        "<|tool_call><tool_call|>",
        "<tool_call>call:now{}</tool_call>",
        '<|"|>',
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("gemma4", text) == Outcome(text)


@pytest.mark.parametrize(
    ("members", "passed_on", "left"),
    [
        (f"days:4,city:{Q}Par", '{"days": 4', f"city:{Q}Par"),
        ("days:4", "", "days:4"),
        ("city:Paris}<tool_call|>", "", "city:Paris}<tool_call|>"),
        ("days=4}", "", "days=4}"),
        ("days:4;", "", "days:4;"),
    ],
)
def test_arguments_that_break_off(members: str, passed_on: str, left: str) -> None:
    got = parsed("gemma4", f"<|tool_call>call:get_weather{{{members}")
    assert got == Outcome(left, calls=[Call("get_weather", passed_on, complete=False)])


def test_text_after_a_block_keeps_its_comma() -> None:
    assert parsed("gemma4", "<|tool_call>call:now{}, really") == Outcome(", really", calls=[Call("now", {})])
