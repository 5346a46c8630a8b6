import pytest
from support.formats import Call, Outcome, parsed

INVOKE = '<atem:invoke name="get_weather"><atem:parameter name="city">Paris</atem:parameter></atem:invoke>'
WRAPPED = f"<atem:function_calls>{INVOKE}</atem:function_calls>"
CALL = f" to=get_weather<|message|>{WRAPPED}<|eom|>"
WEATHER = Call("get_weather", {"city": "Paris"})
SELF = " to=self<|message|>Let me think.<|eom|>"


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        CALL.removesuffix("<|eom|>"),
        CALL.replace("<|eom|>", "<|eot|>"),
        CALL.removeprefix(" "),
        f"<|start|>assistant{CALL}",
        f" to=get_weather<|message|>{INVOKE}<|eom|>",
        f" to=get_weather<|message|>\n{INVOKE}\n</atem:function_calls>\n<|eom|>",
        CALL.replace("><atem", ">\n<atem").replace("></atem", ">\n</atem"),
        f" to=tools<|message|>{WRAPPED}",
        f" to=get_weather<|message|><atem:function_calls>{INVOKE}",
    ],
)
def test_one_call(text: str) -> None:
    assert parsed("onyx", text, "onyx") == Outcome(calls=[WEATHER])


def test_several_calls() -> None:
    two = CALL.replace(INVOKE, f"{INVOKE}\n{INVOKE}")
    assert parsed("onyx", f"{two}<|start|>assistant{CALL}", "onyx") == Outcome(calls=[WEATHER] * 3)


def test_reasoning_then_a_call() -> None:
    assert parsed("onyx", f"{SELF}<|start|>assistant{CALL}", "onyx") == Outcome("", "Let me think.", [WEATHER])


@pytest.mark.parametrize(
    "text",
    [
        "Hello.",
        "<|message|>Hello.<|eot|>",
        " to=user<|message|>Hello.<|eot|>",
        "<|start|>assistant to=user<|message|>Hello.<|eot|>",
        "<|start|>assistant<|message|>Hello.",
    ],
)
def test_the_answer(text: str) -> None:
    assert parsed("onyx", text, "onyx") == Outcome("Hello.")


def test_reasoning_then_the_answer() -> None:
    text = f"{SELF}<|start|>assistant{SELF}<|start|>assistant to=user<|message|>Yes.<|eot|>"
    assert parsed("onyx", text, "onyx") == Outcome("Yes.", "Let me think.\nLet me think.")


def test_thinking_that_is_cut_is_reasoning() -> None:
    assert parsed("onyx", " to=self<|message|>Let me", "onyx") == Outcome(reasoning="Let me")
    assert parsed("onyx", "Let me", "onyx", inside=True) == Outcome(reasoning="Let me")


def test_a_call_within_thinking_is_reasoning() -> None:
    assert parsed("onyx", f" to=self<|message|>{WRAPPED}<|eom|>", "onyx") == Outcome(reasoning=WRAPPED)


def test_without_the_reasoning_parser_thinking_is_content() -> None:
    assert parsed("onyx", SELF, None) == Outcome("Let me think.")


def test_types_come_from_the_schema() -> None:
    text = CALL.replace('"city">Paris', '"days"> 3 ')
    assert parsed("onyx", text, "onyx") == Outcome(calls=[Call("get_weather", {"days": 3})])


@pytest.mark.parametrize(
    "text",
    [
        " to=get_weather<|message|>Paris",
        " to=get_weather<|message|><atem:function_calls></atem:function_calls>",
        ' to=nope<|message|><atem:invoke name="nope"></atem:invoke>',
        " to=get_weather",
        " to=",
        "to the point",
        INVOKE,
    ],
)
def test_what_only_looks_like_a_call_is_text(text: str) -> None:
    assert parsed("onyx", text, "onyx") == Outcome(text)


@pytest.mark.parametrize("cut", [False, True])
def test_without_tools_a_message_to_one_is_text(cut: bool) -> None:
    text = " to=get_weather<|message|><atem:function_calls>"
    assert parsed("onyx", text, "onyx", tools=(), cut=cut) == Outcome(text)
    assert parsed("onyx", text, "onyx", cut=cut) == Outcome()


def test_arguments_that_break_off() -> None:
    got = parsed("onyx", CALL[: CALL.index("ris")], "onyx")
    assert got == Outcome(calls=[Call("get_weather", '{"city": "Pa', complete=False)])
