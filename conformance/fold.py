"""The unary answer that a stream amounts to, made independently of any server."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any


def fold_chat(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The chat completion that chunks add up to; usage is null where no chunk had any."""

    def choice(text: str) -> dict[str, Any]:
        return {"message": {"role": "assistant", "content": text, "refusal": None}}

    return _fold(chunks, "chat.completion", lambda chunk_choice: chunk_choice["delta"].get("content"), choice)


def fold_completion(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The text completion that chunks add up to; usage is null where no chunk had any."""
    return _fold(chunks, "text_completion", lambda chunk_choice: chunk_choice["text"], lambda text: {"text": text})


def _fold(
    chunks: list[dict[str, Any]],
    kind: str,
    piece: Callable[[dict[str, Any]], str | None],
    choice: Callable[[str], dict[str, Any]],
) -> dict[str, Any]:
    texts: dict[int, str] = defaultdict(str)
    reasons: dict[int, str] = {}
    logprobs: dict[int, dict[str, Any] | None] = defaultdict(lambda: None)
    for chunk in chunks:
        for each in chunk["choices"]:
            texts[each["index"]] += piece(each) or ""
            logprobs[each["index"]] = _joined(logprobs[each["index"]], each["logprobs"])
            reasons[each["index"]] = each["finish_reason"] or reasons.get(each["index"], "")
    return {
        "id": chunks[0]["id"],
        "object": kind,
        "created": chunks[0]["created"],
        "model": chunks[0]["model"],
        "choices": [
            {"index": index, **choice(texts[index]), "logprobs": logprobs[index], "finish_reason": reasons[index]}
            for index in sorted(texts)
        ],
        "usage": next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None),
    }


def _joined(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
    """Objects of lists, one after the other; what isn't a list in one of them is not asked for."""
    if before is None or after is None:
        return before if after is None else after
    return {
        name: before[name] + after[name]
        if isinstance(before[name], list) and isinstance(after.get(name), list)
        else None
        for name in before
    }
