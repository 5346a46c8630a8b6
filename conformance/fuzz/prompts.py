"""The prompts of a request as far as they are known without the server: texts, turns and token ids."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Types of items that are turns.
TURNS = ("message", "function_call_output", "custom_tool_call_output")

# Types of items whose texts are turns or calls. Of other types, the whole item may become text.
_WITHOUT_OTHER_TEXT = (*TURNS, "function_call", "reasoning", "item_reference")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `texts` are in order; `turns` counts messages and tool results, 0 for a prompt without a
    conversation; `ids` are token ids in the request; `last_user` is the text of the last user turn, or of the prompt;
    `images` is whether it has images."""

    texts: tuple[str, ...] = ()
    turns: int = 0
    ids: tuple[int, ...] = ()
    last_user: str = ""
    images: bool = False


def prompts(body: Mapping[str, Any]) -> list[Prompt]:
    """Returns the prompts of a valid request of any endpoint: one for a conversation or mixed content, any number for
    completions and tokens to decode."""
    if tokens := body.get("tokens"):
        return [_bare(prompt) for prompt in (tokens if is_several(tokens) else [tokens])]
    if isinstance(content := body.get("content"), list):
        texts = tuple(part for part in content if isinstance(part, str))
        return [Prompt(texts=texts, ids=tuple(part for part in content if not isinstance(part, str)))]
    # Only chat has input_ids; any other body may have a field of this name that means nothing.
    if ids := body.get("prompt_token_ids") or ("messages" in body and body.get("input_ids")):
        return [_bare(prompt) for prompt in (ids if is_several(ids) else [ids])]
    if "messages" in body and body.get("disable_chat_template"):
        return [_bare("\n".join(_texts(body["messages"][0].get("content"))))]
    if "messages" in body:
        return [_conversation(body["messages"], [*_texts(body.get("system")), *_tools(body)])]
    prompt = body.get("prompt")
    # Ollama's prompt is a message of the user, after the system's. A completion has no field of that name.
    if isinstance(prompt, str) and isinstance(system := body.get("system"), str) and not body.get("raw"):
        turns = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
        return [_conversation(turns, ())]
    # A completion may have a field of the name input that means nothing; the prompt of a response is an object.
    if "input" in body and not isinstance(prompt, str | list):
        return [_conversation(body["input"], [body.get("instructions") or "", *_tools(body)])]
    if isinstance(prompt, list) and is_several(prompt):
        return [_bare(item) for item in prompt]
    return [_bare(prompt)]


def is_several(prompt: Any) -> bool:
    """Returns whether the prompt of a completion is a list of prompts. A list of token ids is one prompt."""
    return isinstance(prompt, list) and bool(prompt) and isinstance(prompt[0], str | list)


def _bare(prompt: str | list[int] | None) -> Prompt:
    return Prompt(texts=(prompt,), last_user=prompt) if isinstance(prompt, str) else Prompt(ids=tuple(prompt or ()))


def _conversation(items: Any, first: Iterable[str]) -> Prompt:
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    turns = [item for item in items if item.get("type", "message") in TURNS]
    user = [turn for turn in turns if turn.get("role") == "user"]
    return Prompt(
        texts=(
            *first,
            *("\n".join(_texts(turn.get("content", turn.get("output")))) for turn in turns),
            *(json.dumps(call) for item in items for call in _calls(item)),
            *(json.dumps(item) for item in items if item.get("type", "message") not in _WITHOUT_OTHER_TEXT),
        ),
        turns=len(turns),
        last_user="\n".join(_texts(user[-1].get("content"))) if user else "",
        images=any(
            bool(turn.get("images"))
            or any(
                "image_url" in part or "image" in str(part.get("type"))
                for part in _parts(turn.get("content", turn.get("output")))
            )
            for turn in turns
        ),
    )


def _tools(body: Mapping[str, Any]) -> Iterator[str]:
    """Yields each tool as JSON, with all fields that a template may render."""
    for name in ("tools", "functions"):
        for tool in body.get(name) or ():
            function = {"description": "", "parameters": tool.get("input_schema", {})} | (tool.get("function") or tool)
            yield json.dumps({"type": "function", "function": function})


def _calls(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yields the calls of a message or item, with all fields that a template may render."""
    legacy = [{"function": item["function_call"]}] if item.get("function_call") else []
    own = [{"function": item}] if item.get("type") == "function_call" else []
    blocks = [part for part in _parts(item.get("content")) if part.get("type") == "tool_use"]
    own += [{"function": {"name": block["name"], "arguments": json.dumps(block["input"])}} for block in blocks]
    for call in (*(item.get("tool_calls") or ()), *legacy, *own):
        function = call.get("function") or call.get("custom") or {}
        text = function.get("arguments") or function.get("input") or "{}"
        arguments = {"name": function.get("name"), "arguments": text}
        yield {"id": call.get("id") or "call_0", "type": "function", "function": arguments}


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    for part in _parts(content):
        if isinstance(part.get("text"), str):
            yield part["text"]
        if part.get("type") == "tool_result":
            yield from _texts(part.get("content"))


def _parts(content: Any) -> Iterator[Mapping[str, Any]]:
    yield from (part for part in (content if isinstance(content, list) else ()) if isinstance(part, Mapping))
