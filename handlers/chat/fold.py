"""Chunks -> the unary answer."""

from collections.abc import AsyncIterator

from specvino.engine.segments import FinishReason
from specvino.generated import wire


async def fold(chunks: AsyncIterator[wire.ChatCompletionChunk]) -> wire.ChatCompletion:
    """Joins the chunks of one whole stream, usage included."""
    texts: dict[int, list[str]] = {}
    reasons: dict[int, FinishReason] = {}
    async for chunk in chunks:
        for choice in chunk["choices"]:
            text = texts.setdefault(choice["index"], [])
            if "content" in choice["delta"]:
                text.append(choice["delta"]["content"])
            if choice["finish_reason"] is not None:
                reasons[choice["index"]] = choice["finish_reason"]
        usage = chunk.get("usage")
        if usage is not None:  # the last chunk
            return {
                "id": chunk["id"],
                "object": "chat.completion",
                "created": chunk["created"],
                "model": chunk["model"],
                "choices": [_choice(index, "".join(texts[index]), reasons[index]) for index in sorted(texts)],
                "usage": usage,
            }
    raise RuntimeError("the stream ended without usage")


def _choice(index: int, text: str, reason: FinishReason) -> wire.ChatChoice:
    return {
        "index": index,
        "message": {"role": "assistant", "content": text, "refusal": None},
        "logprobs": None,
        "finish_reason": reason,
    }
