"""vLLM's names of the formats of tool calls and reasoning, with ours (`output_parsers/named_formats.py`). They aren't
there, since command lines are read without the extra `serve`, too.
"""

# Names that differ from ours (`vllm/tool_parsers/__init__.py` and `vllm/reasoning/__init__.py` at 0064cc9c).
TOOL_ALIASES = {
    "hermes": "hermes3",
    "llama3_json": "llama3",
    "phi4_mini_json": "phi4",
    "openai": "gptoss",
    "qwen3_coder": "qwen3coder",
    "qwen3_xml": "qwen3coder",
    "granite4": "hermes3",
    "llama4_json": "llama3",
    "mimo": "qwen3coder",
    "step3p5": "qwen3coder",
    "glm47": "glm45",
}
REASONING_ALIASES = {
    "deepseek_r1": "qwen3",
    "deepseek_v3": "qwen3",
    "deepseek_v4": "qwen3",
    "glm45": "qwen3",
    "glm47": "qwen3",
    "kimi_k2": "qwen3",
    "mimo": "qwen3",
    "minimax_m2": "qwen3",
    "nemotron_v3": "qwen3",
    "olmo3": "qwen3",
    "step3p5": "qwen3",
    "openai_gptoss": "gptoss",
}


def _same(*names: str) -> dict[str, str]:
    return dict(zip(names, names, strict=True))


# All of vLLM's names of these formats; some are the same as ours.
VLLM_TOOL_PARSERS = {
    **TOOL_ALIASES,
    **_same(
        "mistral",
        "lfm2",
        "gemma4",
        "minicpm5",
        "seed_oss",
        "glm45",
        "granite",
        "kimi_k2",
        "deepseek_v31",
        "minimax_m2",
    ),
}
VLLM_REASONING_PARSERS = {
    **REASONING_ALIASES,
    **_same("qwen3", "gemma4", "mistral", "seed_oss", "cohere_command3"),
}
