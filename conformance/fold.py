"""The unary answer that a stream amounts to, made independently of any server."""

from collections import defaultdict
from typing import Any


def fold_chat(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """The chat completion that chunks add up to; usage is null where no chunk had any."""
    contents: dict[int, str] = defaultdict(str)
    reasons: dict[int, str] = {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            contents[choice["index"]] += choice["delta"].get("content") or ""
            reasons[choice["index"]] = choice["finish_reason"] or reasons.get(choice["index"], "")
    return {
        "id": chunks[0]["id"],
        "object": "chat.completion",
        "created": chunks[0]["created"],
        "model": chunks[0]["model"],
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": contents[index], "refusal": None},
                "logprobs": None,
                "finish_reason": reasons[index],
            }
            for index in sorted(contents)
        ],
        "usage": next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None),
    }
