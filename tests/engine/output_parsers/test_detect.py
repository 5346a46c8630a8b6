import pytest

from specvino.engine.output_parsers import detect


@pytest.mark.parametrize(
    ("template", "formats"),
    [
        ("<|start|>assistant<|channel|>final<|message|>", ("gptoss", "gptoss")),
        ("<|start|>{{ role }}<|message|>{{ content }}<|eom|><|eot|>", ("onyx", "onyx")),
        ("<|tool_call>call:{{ name }}", ("gemma4", "gemma4")),
        ("<tool_call><function={{ name }}><parameter={{ k }}></parameter></tool_call>", ("qwen3coder", None)),
        ("<function={{ name }}><parameter={{ k }}></parameter><think>", ("qwen3coder", "qwen3")),
        ('<function name="{{ name }}"><param name="{{ k }}"><think>', ("minicpm5", "minicpm5")),
        ("<|tool_call_start|>", ("lfm2", None)),
        ("<|assistant_tool_call|>{{ message.thinking }}", ("lfm2", "lfm2")),
        ("{% if keep_past_thinking %}", ("lfm2", None)),
        ("functools[{{ calls }}]", ("phi4", None)),
        ("[TOOL_CALLS]{{ name }}[ARGS]{{ arguments }}", ("devstral", None)),
        ("[TOOL_CALLS] [{{ calls }}]", ("mistral", None)),
        ("[AVAILABLE_TOOLS]{{ tools }}[/AVAILABLE_TOOLS]", ("mistral", None)),
        ("[AVAILABLE_TOOLS]", (None, None)),
        ("<|python_tag|>", ("llama3", None)),
        ("<tool_call>{{ call }}</tool_call>", ("hermes3", None)),
        ("<think><tool_call>{{ call }}</tool_call>", ("hermes3", "qwen3")),
        ("<tool_call>", (None, None)),
        ("{{ '<think>' }}", (None, "qwen3")),
        ("{{ messages[0].content }}", (None, None)),
        ("", (None, None)),
        # The first that matches wins.
        ("<|channel|><|start|><|message|><|eom|><|eot|><tool_call></tool_call>", ("gptoss", "gptoss")),
        ("functools [TOOL_CALLS] <|python_tag|> <tool_call></tool_call>", ("phi4", None)),
        ("<|python_tag|><tool_call></tool_call><think>", ("llama3", None)),
    ],
)
def test_a_template_shows_its_formats(template: str, formats: tuple[str | None, str | None]) -> None:
    assert detect(template) == formats
