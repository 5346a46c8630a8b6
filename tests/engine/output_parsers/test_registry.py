import pytest

from specvino.engine.output_parsers import (
    REASONING_PARSERS,
    TOOL_PARSERS,
    ends_in_thinking,
    needed_special_tokens,
    parser_for,
)


def test_the_names() -> None:
    tools = "hermes3 llama3 phi4 mistral gptoss qwen3coder devstral lfm2 gemma4 onyx minicpm5"
    assert list(TOOL_PARSERS) == tools.split()
    assert list(REASONING_PARSERS) == ["qwen3", "gptoss", "gemma4", "lfm2", "minicpm5", "onyx"]


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (("hermes", None), "unknown tool format 'hermes': it is one of hermes3, llama3"),
        ((None, "think"), "unknown reasoning format 'think': it is one of qwen3, gptoss"),
        (("gptoss", "qwen3"), "'gptoss' and reasoning format 'qwen3' don't go together"),
        (("hermes3", "gptoss"), "'hermes3' and reasoning format 'gptoss' don't go together"),
        (("onyx", "gptoss"), "'onyx' and reasoning format 'gptoss' don't go together"),
    ],
)
def test_formats_that_cant_be(formats: tuple[str | None, str | None], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parser_for(*formats, ())
    with pytest.raises(ValueError, match=message):
        needed_special_tokens(*formats)


@pytest.mark.parametrize(
    ("formats", "markers"),
    [
        ((None, None), set()),
        (("phi4", None), set()),
        (("hermes3", "qwen3"), {"<tool_call>", "</tool_call>", "<think>", "</think>"}),
        (("devstral", None), {"[TOOL_CALLS]", "[ARGS]"}),
        (("gemma4", "gemma4"), {"<|tool_call>", "<tool_call|>", '<|"|>', "<|channel>", "<channel|>"}),
    ],
)
def test_the_tokens_that_must_stay(formats: tuple[str | None, str | None], markers: set[str]) -> None:
    assert needed_special_tokens(*formats) == markers


def test_a_framed_format_needs_the_same_tokens_for_calls_and_reasoning() -> None:
    for name in ("gptoss", "onyx"):
        assert (
            needed_special_tokens(name, None) == needed_special_tokens(None, name) == needed_special_tokens(name, name)
        )
    assert {"<|channel|>", "<|message|>", "<|call|>", "<|constrain|>"} <= needed_special_tokens("gptoss", None)


@pytest.mark.parametrize(
    ("reasoning_parser", "prompt", "ends"),
    [
        ("qwen3", "<|im_start|>assistant\n<think>\n", True),
        ("qwen3", "<think>", True),
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("qwen3", "<|im_start|>assistant\n", False),
        ("lfm2", "x<think> ", True),
        ("minicpm5", "x<think>\n", True),
        ("gemma4", "<|turn>model\n<|channel>thought\n", True),
        ("gemma4", "<|turn>model\n<|channel>", True),
        ("gemma4", "<|turn>model\n", False),
        ("gptoss", "<|start|>assistant<|channel|>analysis<|message|>", True),
        ("gptoss", "<|start|>assistant", False),
        ("onyx", "<|start|>assistant to=self<|message|>", True),
        ("onyx", "<|start|>assistant", False),
        (None, "<think>", False),
    ],
)
def test_a_prompt_may_end_in_thinking(reasoning_parser: str | None, prompt: str, ends: bool) -> None:
    assert ends_in_thinking(reasoning_parser, prompt) is ends
