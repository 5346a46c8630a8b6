"""Chunks -> the unary answer."""

from collections.abc import AsyncIterator

from specvino.generated import wire


async def fold(chunks: AsyncIterator[wire.CompletionChunk]) -> wire.Completion:
    """Joins the chunks of one whole stream, usage included."""
    texts: dict[int, list[str]] = {}
    choices: dict[int, wire.CompletionChoice] = {}
    async for chunk in chunks:
        for choice in chunk["choices"]:
            index, reason = choice["index"], choice["finish_reason"]
            texts.setdefault(index, []).append(choice["text"])
            if reason is not None:
                text = "".join(texts[index])
                choices[index] = {"index": index, "text": text, "logprobs": None, "finish_reason": reason}
        usage = chunk.get("usage")
        if usage is not None:  # the last chunk
            return {
                "id": chunk["id"],
                "object": "text_completion",
                "created": chunk["created"],
                "model": chunk["model"],
                "choices": [choices[index] for index in sorted(choices)],
                "usage": usage,
            }
    raise RuntimeError("the stream ended without usage")
