"""Formats by name: ours, and vLLM's."""

import pytest

from specvino.engine.format_names import REASONING_ALIASES, TOOL_ALIASES, VLLM_REASONING_PARSERS, VLLM_TOOL_PARSERS
from specvino.engine.output_parsers import REASONING_PARSERS, TOOL_PARSERS, reasoning_format, tool_format


def test_names_of_vllm_are_names_of_formats_too() -> None:
    assert tool_format("hermes") is TOOL_PARSERS["hermes3"]
    assert reasoning_format("deepseek_r1") is REASONING_PARSERS["qwen3"]
    assert {*TOOL_ALIASES.values()} <= TOOL_PARSERS.keys()
    assert {*REASONING_ALIASES.values()} <= REASONING_PARSERS.keys()
    assert all(tool_format(name) is TOOL_PARSERS[ours] for name, ours in VLLM_TOOL_PARSERS.items())
    assert all(reasoning_format(name) is REASONING_PARSERS[ours] for name, ours in VLLM_REASONING_PARSERS.items())


def test_unknown_names() -> None:
    with pytest.raises(ValueError, match="unknown tool format 'x'; known formats: hermes3, llama3"):
        tool_format("x")
    with pytest.raises(ValueError, match="unknown reasoning format 'x'; known formats: qwen3, gptoss"):
        reasoning_format("x")
