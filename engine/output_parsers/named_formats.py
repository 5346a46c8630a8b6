"""Named formats of calls and reasoning, for models whose chat template doesn't render them, and for operators."""

from specvino.engine.format_names import REASONING_ALIASES, TOOL_ALIASES
from specvino.engine.output_parsers import gptoss, onyx
from specvino.engine.output_parsers.call_format import (
    ID,
    NAME,
    CallFormat,
    Elements,
    JsonArguments,
    JsonCall,
    Literals,
)
from specvino.engine.output_parsers.formats import ReasoningFormat, ToolFormat
from specvino.engine.output_parsers.reasoning_tags import GEMMA4, THINK, ReasoningTags

CALL_FORMATS = {
    # <tool_call>{"name": "f", "arguments": {…}}</tool_call>: Hermes 3, Qwen 2.5 and 3.
    "hermes3": CallFormat(JsonCall(), separator="\n", head="<tool_call>\n", tail="\n</tool_call>"),
    # {"name": "f", "parameters": {…}}, also after <|python_tag|>: Llama 3.1 and 3.2. Code after the tag is text.
    "llama3": CallFormat(
        JsonCall(f'{{"name": "{NAME}", "parameters": '), separator="; ", marks=("<|python_tag|>",), bare=True
    ),
    # functools[{"name": "f", "arguments": {…}}, …]: Phi-4-mini.
    "phi4": CallFormat(JsonCall(), section=("functools[", "]"), separator=", "),
    # [TOOL_CALLS] [{"name": "f", "arguments": {…}}, …]: Mistral 7B v0.3. The marker may be missing.
    "mistral": CallFormat(JsonCall(), section=("[TOOL_CALLS] [", "]"), separator=", ", bare=True),
    # [TOOL_CALLS]f[ARGS]{…}: Devstral, Mistral Small 3.
    "devstral": CallFormat(JsonArguments(), head=f"[TOOL_CALLS]{NAME}[ARGS]"),
    # <tool_call><function=f><parameter=k>v</parameter>…</function></tool_call>: Qwen3-Coder, Qwen3.5.
    "qwen3coder": CallFormat(
        Elements(("\n<parameter=", ">\n"), "\n</parameter>"),
        separator="\n",
        head=f"<tool_call>\n<function={NAME}>",
        tail="\n</function>\n</tool_call>",
    ),
    # <|tool_call_start|>[f(a="x", b=42), g()]<|tool_call_end|>, as in Python: LFM2.
    "lfm2": CallFormat(Literals(), section=("<|tool_call_start|>[", "]<|tool_call_end|>"), separator=", ", head=NAME),
    # <|tool_call>call:f{k:<|"|>text<|"|>,n:42}<tool_call|>, several calls in one block: Gemma 4.
    "gemma4": CallFormat(
        Literals(("{", "}"), ":", ",", '<|"|>'), section=("<|tool_call>", "<tool_call|>"), head=f"call:{NAME}"
    ),
    # <function name="f"><param name="k">v</param></function>: MiniCPM5.
    "minicpm5": CallFormat(
        Elements(('<param name="', '">'), "</param>", cdata=True),
        separator="\n",
        head=f'<function name="{NAME}">',
        tail="</function>",
    ),
    # <seed:tool_call><function=f><parameter=k>v</parameter></function></seed:tool_call>: Seed-OSS.
    "seed_oss": CallFormat(
        Elements(("\n<parameter=", ">"), "</parameter>"),
        separator="\n",
        head=f"<seed:tool_call>\n<function={NAME}>",
        tail="\n</function>\n</seed:tool_call>",
    ),
    # <tool_call>f\n<arg_key>k</arg_key>\n<arg_value>v</arg_value>\n</tool_call>: GLM 4.5.
    "glm45": CallFormat(
        Elements(("\n<arg_key>", "</arg_key>\n<arg_value>"), "</arg_value>"),
        separator="\n",
        head=f"<tool_call>{NAME}",
        tail="\n</tool_call>",
    ),
    # <|tool_call|>[{"name": "f", "arguments": {…}}, …]: Granite 3.
    "granite": CallFormat(JsonCall(), section=("<|tool_call|>[", "]"), separator=", "),
    # <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}<|tool_call_end|>: Kimi K2.
    "kimi_k2": CallFormat(
        JsonArguments(),
        section=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
        head=f"<|tool_call_begin|>functions.{NAME}:{ID}<|tool_call_argument_begin|>",
        tail="<|tool_call_end|>",
        numbered=True,
    ),
    # f<｜tool▁sep｜>{…}: DeepSeek V3.1.
    "deepseek_v31": CallFormat(
        JsonArguments(),
        section=("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
        head=f"<｜tool▁call▁begin｜>{NAME}<｜tool▁sep｜>",
        tail="<｜tool▁call▁end｜>",
    ),
    # <minimax:tool_call><invoke name="f"><parameter name="k">v</parameter></invoke></minimax:tool_call>: MiniMax M2.
    "minimax_m2": CallFormat(
        Elements(('\n<parameter name="', '">'), "</parameter>"),
        section=("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
        separator="\n",
        head=f'<invoke name="{NAME}">',
        tail="\n</invoke>",
    ),
}

TOOL_PARSERS: dict[str, ToolFormat] = {**CALL_FORMATS, "gptoss": gptoss.CALLS, "onyx": onyx.CALLS}

REASONING_PARSERS: dict[str, ReasoningFormat] = {
    "qwen3": THINK,
    "gptoss": gptoss.FRAMING,
    "gemma4": GEMMA4,
    "lfm2": THINK,
    "minicpm5": THINK,
    "onyx": onyx.FRAMING,
    "mistral": ReasoningTags("[THINK]", "[/THINK]"),
    "seed_oss": ReasoningTags("<seed:think>", "</seed:think>"),
    "cohere_command3": ReasoningTags("<|START_THINKING|>", "<|END_THINKING|>"),
}

MESSAGE_FRAMINGS = {"gptoss": gptoss.FRAMING, "onyx": onyx.FRAMING}


def tool_format(name: str) -> ToolFormat:
    """Returns the format of a name, ours or vLLM's. Raises ValueError for an unknown one."""
    known = TOOL_ALIASES.get(name, name)
    if known not in TOOL_PARSERS:
        raise ValueError(f"unknown tool format {name!r}; known formats: {', '.join(TOOL_PARSERS)}")
    return TOOL_PARSERS[known]


def reasoning_format(name: str) -> ReasoningFormat:
    """Returns the format of a name, ours or vLLM's. Raises ValueError for an unknown one."""
    known = REASONING_ALIASES.get(name, name)
    if known not in REASONING_PARSERS:
        raise ValueError(f"unknown reasoning format {name!r}; known formats: {', '.join(REASONING_PARSERS)}")
    return REASONING_PARSERS[known]
