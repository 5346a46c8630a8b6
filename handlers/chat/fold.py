"""Chunks -> the unary answer."""

from collections.abc import AsyncIterator

from specvino.generated import wire


async def fold(chunks: AsyncIterator[wire.ChatCompletionChunk]) -> wire.ChatCompletion:
    """Joins the chunks of one whole stream, usage included."""
    texts: dict[int, list[str]] = {}
    logprobs: dict[int, list[wire.TokenLogprob]] = {}
    choices: dict[int, wire.ChatChoice] = {}
    async for chunk in chunks:
        for choice in chunk["choices"]:
            index, reason = choice["index"], choice["finish_reason"]
            texts.setdefault(index, []).append(choice["delta"].get("content") or "")
            if choice["logprobs"] is not None:
                logprobs.setdefault(index, []).extend(choice["logprobs"]["content"] or ())
            if reason is not None:
                message: wire.ChatMessage = {"role": "assistant", "content": "".join(texts[index]), "refusal": None}
                tokens: wire.ChatLogprobs | None = None
                if index in logprobs:
                    tokens = {"content": logprobs[index], "refusal": None}
                choices[index] = {"index": index, "message": message, "logprobs": tokens, "finish_reason": reason}
        usage = chunk.get("usage")
        if usage is not None:  # the last chunk
            return {
                "id": chunk["id"],
                "object": "chat.completion",
                "created": chunk["created"],
                "model": chunk["model"],
                "choices": [choices[index] for index in sorted(choices)],
                "usage": usage,
            }
    raise RuntimeError("the stream ended without usage")
