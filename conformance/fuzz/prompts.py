"""The prompt of a request, as far as it can be told without the server: its texts, turns and token ids."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TURNS = ("message", "function_call_output")
"""The types of the items that are turns of their own."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """`texts` in their order. `turns` counts messages and the like, 0 for a bare prompt. `ids` are tokens that
    the request itself holds. `last_user` is the text of the last turn of the user, or of the bare prompt."""

    texts: tuple[str, ...] = ()
    turns: int = 0
    ids: tuple[int, ...] = ()
    last_user: str = ""


def prompts(body: Mapping[str, Any]) -> list[Prompt]:
    """The prompts of a valid request of any endpoint: one for a conversation, any number for completions."""
    if "messages" in body:
        return [_conversation(body["messages"], None)]
    if "input" in body:
        return [_conversation(body["input"], body.get("instructions"))]
    prompt = body.get("prompt")
    if isinstance(prompt, list) and is_several(prompt):
        return [_bare(each) for each in prompt]
    return [_bare(prompt)]


def is_several(prompt: Any) -> bool:
    """Whether the prompt of a completion is a list of prompts; a list of token ids is one."""
    return isinstance(prompt, list) and bool(prompt) and isinstance(prompt[0], str | list)


def _bare(prompt: str | list[int] | None) -> Prompt:
    return Prompt(texts=(prompt,), last_user=prompt) if isinstance(prompt, str) else Prompt(ids=tuple(prompt or ()))


def _conversation(items: Any, instructions: str | None) -> Prompt:
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    turns = [item for item in items if item.get("type", "message") in TURNS]
    user = [turn for turn in turns if turn.get("role") == "user"]
    return Prompt(
        texts=(instructions or "", *("\n".join(_texts(turn.get("content", turn.get("output")))) for turn in turns)),
        turns=len(turns),
        last_user="\n".join(_texts(user[-1].get("content"))) if user else "",
    )


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, Mapping) and isinstance(part.get("text"), str):
                yield part["text"]
