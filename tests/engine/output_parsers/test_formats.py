import pytest

from specvino.engine.output_parsers import (
    REASONING_PARSERS,
    TOOL_PARSERS,
    ends_in_thinking,
    go_together,
    needed_special_tokens,
    reasoning_format,
    tool_format,
)


@pytest.mark.parametrize("pair", [("gptoss", "qwen3"), ("hermes3", "gptoss"), ("onyx", "gptoss")])
def test_messages_and_tags_don_t_go_together(pair: tuple[str, str]) -> None:
    assert not go_together(tool_format(pair[0]), reasoning_format(pair[1]))


@pytest.mark.parametrize("pair", [("gptoss", "gptoss"), ("hermes3", "qwen3"), ("gptoss", None), (None, "onyx")])
def test_what_goes_together(pair: tuple[str | None, str | None]) -> None:
    tool, reasoning = pair
    assert go_together(tool_format(tool) if tool else None, reasoning_format(reasoning) if reasoning else None)


SPECIAL = """
    <tool_call> </tool_call> <think> </think> [TOOL_CALLS] [ARGS] <|tool_call> <tool_call|> <|"|> <|channel> <channel|>
    <|channel|> <|message|> <|call|> <|constrain|> <function </function> <param </param> <|im_end|> <s>
"""


@pytest.mark.parametrize(
    ("formats", "markers"),
    [
        ((None, None), ""),
        (("phi4", None), ""),
        (("hermes3", "qwen3"), "<tool_call> </tool_call> <think> </think>"),
        (("devstral", None), "[TOOL_CALLS] [ARGS]"),
        (("gemma4", "gemma4"), '<|tool_call> <tool_call|> <|"|> <|channel> <channel|>'),
        (("gptoss", None), "<|channel|> <|message|> <|call|> <|constrain|>"),
        ((None, "gptoss"), "<|channel|> <|message|> <|call|> <|constrain|>"),
        (("minicpm5", None), "<function </function> <param </param>"),
    ],
)
def test_the_tokens_that_must_stay(formats: tuple[str | None, str | None], markers: str) -> None:
    tool, reasoning = TOOL_PARSERS.get(formats[0] or ""), REASONING_PARSERS.get(formats[1] or "")
    assert needed_special_tokens(tool, reasoning, SPECIAL.split()) == set(markers.split())


@pytest.mark.parametrize(
    ("reasoning_parser", "prompt", "ends"),
    [
        ("qwen3", "<|im_start|>assistant\n<think>\n", True),
        ("qwen3", "<think>", True),
        ("qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("qwen3", "<|im_start|>assistant\n", False),
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
    assert ends_in_thinking(REASONING_PARSERS.get(reasoning_parser or ""), prompt) is ends
