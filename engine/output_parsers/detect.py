"""The detection of the formats that a model writes, as far as its chat template shows them."""


def detect(chat_template: str) -> tuple[str | None, str | None]:
    """Returns a template's tool format and reasoning format; the first that matches wins, None is none known."""

    def has(*markers: str) -> bool:
        return all(marker in chat_template for marker in markers)

    think = "qwen3" if has("<think>") else None
    if has("<|channel|>"):
        return "gptoss", "gptoss"
    if has("<|start|>", "<|message|>", "<|eom|>", "<|eot|>"):
        return "onyx", "onyx"
    if has("<|tool_call>call:"):
        return "gemma4", "gemma4"
    if has("<parameter=", "</parameter>", "<function="):
        return "qwen3coder", think
    if has('<param name="'):
        return "minicpm5", "minicpm5"
    if has("<|assistant_tool_call|>") or has("<|tool_call_start|>") or has("keep_past_thinking"):
        return "lfm2", "lfm2" if has("message.thinking") else None
    if has("functools"):
        return "phi4", None
    if has("[TOOL_CALLS]", "[ARGS]"):
        return "devstral", None
    if has("[TOOL_CALLS]") or has("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"):
        return "mistral", None
    if has("<|python_tag|>"):
        return "llama3", None
    if has("<tool_call>", "</tool_call>"):
        return "hermes3", think
    return None, think
