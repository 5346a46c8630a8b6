import pytest
from support.formats import WRITERS, Call, Outcome, parsed, pieces_of

from specvino.engine.output_parsers import REASONING_PARSERS, AnswerText, ReasoningText, parser_for

CALL = WRITERS["hermes3"]("now", {})
THINK = ["qwen3", "lfm2", "minicpm5"]


@pytest.mark.parametrize("reasoning_parser", THINK)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>Hm.</think>Yes.", Outcome("Yes.", "Hm.")),
        ("<think>\nHm.\n\nOr?\n</think>\n\nYes.\n", Outcome("Yes.\n", "Hm.\n\nOr?")),
        ("\n<think>Hm.</think>  \nYes.", Outcome("Yes.", "Hm.")),
        ("<think>\n\n</think>\n\nYes.", Outcome("Yes.")),
        ("<think></think>", Outcome()),
        ("<think>Hm. Let me", Outcome(reasoning="Hm. Let me")),
        ("<think>Hm.\n", Outcome(reasoning="Hm.")),
        ("<think>", Outcome()),
        ("<think>a < b, </ think> </b>", Outcome(reasoning="a < b, </ think> </b>")),
        ("<think>Hm.</think>What is <think>x</think>?", Outcome("What is <think>x</think>?", "Hm.")),
        ("No tag at all.", Outcome("No tag at all.")),
        ("The tag <think> begins it, </think> ends it.", Outcome("The tag <think> begins it, </think> ends it.")),
        ("<thinking>", Outcome("<thinking>")),
        ("<thi", Outcome("<thi")),
        ("  ", Outcome("  ")),
        ("東京 🎉", Outcome("東京 🎉")),
    ],
)
def test_think_tags(reasoning_parser: str, text: str, expected: Outcome) -> None:
    assert parsed(None, text, reasoning_parser) == expected


@pytest.mark.parametrize("reasoning_parser", THINK)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\nHm.\n</think>\n\nYes.", Outcome("Yes.", "Hm.")),
        ("<think>\nHm.</think>Yes.", Outcome("Yes.", "Hm.")),
        ("Hm. <think> is a tag</think>Yes.", Outcome("Yes.", "Hm. <think> is a tag")),
        ("</think>Yes.", Outcome("Yes.")),
        ("\n\n</think>\n\n  Yes.", Outcome("Yes.")),
        ("Hm. Let me", Outcome(reasoning="Hm. Let me")),
        ("", Outcome()),
    ],
)
def test_a_prompt_that_ends_in_the_start_tag(reasoning_parser: str, text: str, expected: Outcome) -> None:
    assert parsed(None, text, reasoning_parser, inside=True) == expected


def test_reasoning_then_a_call() -> None:
    got = parsed("hermes3", f"<think>\nHm.\n</think>\n\n{CALL}", "qwen3")
    assert got == Outcome("", "Hm.", [Call("now", {})])


def test_a_call_within_thinking_is_reasoning() -> None:
    got = parsed("hermes3", f"<think>{CALL}</think>{CALL}", "qwen3")
    assert got == Outcome("", CALL, [Call("now", {})])
    assert parsed("hermes3", CALL, "qwen3", inside=True) == Outcome("", CALL)


@pytest.mark.parametrize("tool_parser", ["llama3", "mistral"])
def test_a_call_without_marker_may_follow_thinking(tool_parser: str) -> None:
    bare = WRITERS[tool_parser]("now", {}).removeprefix("<|python_tag|>").removeprefix("[TOOL_CALLS] ")
    got = parsed(tool_parser, f"<think>Hm.</think>\n{bare}", "qwen3")
    assert got == Outcome("", "Hm.", [Call("now", {})])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<|channel>thought\nHm.\n<channel|>Yes.", Outcome("Yes.", "Hm.")),
        ("<|channel>thought\n<channel|>Yes.", Outcome("Yes.")),
        ("<|channel>thoughts differ<channel|>Yes.", Outcome("Yes.", "thoughts differ")),
        ("<|channel>Hm.<channel|>\nYes.", Outcome("Yes.", "Hm.")),
        ("Well. <|channel>thought\nHm.<channel|>Yes.", Outcome("Well. Yes.", "Hm.")),
        ("<|channel>thought\nA<channel|>B<|channel>thought\nC<channel|>D", Outcome("BD", "AC")),
        ("<|channel>thought\nHm", Outcome(reasoning="Hm")),
        ("<|channel>thou", Outcome(reasoning="thou")),
        ("Yes.", Outcome("Yes.")),
        ("<channel|>Yes.", Outcome("Yes.")),  # it doesn't think
        ("Yes.<channel|>", Outcome("Yes.<channel|>")),
        (
            "<|channel>thought\n<|tool_call>call:now{}<tool_call|><channel|>",
            Outcome("", "<|tool_call>call:now{}<tool_call|>"),
        ),
    ],
)
def test_gemma4(text: str, expected: Outcome) -> None:
    assert parsed("gemma4", text, "gemma4") == expected


def test_gemma4_reasoning_then_a_call() -> None:
    got = parsed("gemma4", "<|channel>thought\nHm.<channel|><|tool_call>call:now{}<tool_call|>", "gemma4")
    assert got == Outcome("", "Hm.", [Call("now", {})])
    assert parsed("gemma4", "Hm.<channel|>Yes.", "gemma4", inside=True) == Outcome("Yes.", "Hm.")


def test_thinking_ends_a_call_that_is_under_way() -> None:
    text = "<|tool_call>call:get_weather{days:3,<|channel>thought\nHm.<channel|>city:x}"
    got = parsed("gemma4", text, "gemma4")
    assert got == Outcome("city:x}", "Hm.", [Call("get_weather", '{"days": 3', complete=False)])


def test_what_is_held_back_comes_before_the_thinking() -> None:
    pieces = pieces_of("gemma4", "gemma4", ["<|tool_call>call:<|channel>Hm.<channel|>Yes."])
    assert pieces == [AnswerText("<|tool_call>call:"), ReasoningText("Hm."), AnswerText("Yes.")]


@pytest.mark.parametrize(
    ("reasoning_parser", "start", "end"),
    [
        ("qwen3", "<think>", "</think>"),
        ("gemma4", "<|channel>", "<channel|>"),
        ("gptoss", "<|channel|>analysis<|message|>", "<|end|>"),
        ("onyx", " to=self<|message|>", "<|eom|>"),
    ],
)
def test_the_parser_says_whether_the_model_thinks(reasoning_parser: str, start: str, end: str) -> None:
    parser = parser_for(None, REASONING_PARSERS[reasoning_parser], ())
    assert not parser.thinking
    for text, thinking in [(start, True), ("Hm.", True), (end, False), ("Yes.", False)]:
        parser.push(text)
        assert parser.thinking is thinking
