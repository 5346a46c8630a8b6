"""Chunks -> the unary answer."""

from collections.abc import AsyncIterator

from specvino.generated import wire


async def fold(chunks: AsyncIterator[wire.CompletionChunk]) -> wire.Completion:
    """Joins the chunks of one whole stream, usage included."""
    texts: dict[int, list[str]] = {}
    logprobs: dict[int, wire.CompletionLogprobs] = {}
    choices: dict[int, wire.CompletionChoice] = {}
    prompts: dict[int, list[int] | None] = {}
    token_ids: dict[int, list[int]] = {}
    prompt_logprobs: dict[int, list[dict[str, wire.PromptTokenLogprob] | None] | None] = {}
    async for chunk in chunks:
        for choice in chunk["choices"]:
            index, reason = choice["index"], choice["finish_reason"]
            texts.setdefault(index, []).append(choice["text"])
            if choice["logprobs"] is not None:
                before = logprobs.get(index)
                logprobs[index] = choice["logprobs"] if before is None else _joined(before, choice["logprobs"])
            if "prompt_token_ids" in choice:
                prompts[index], token_ids[index] = choice["prompt_token_ids"], []
            if index in token_ids:
                token_ids[index] += choice["token_ids"] or ()
            if "prompt_logprobs" in choice:
                prompt_logprobs[index] = choice["prompt_logprobs"]
            if reason is not None:
                text = "".join(texts[index])
                tokens = logprobs.get(index)
                choices[index] = {"index": index, "text": text, "logprobs": tokens, "finish_reason": reason}
                if index in token_ids:
                    choices[index]["prompt_token_ids"] = prompts[index]
                    choices[index]["token_ids"] = choices[index]["completion_token_ids"] = token_ids[index]
                if index in prompt_logprobs:
                    choices[index]["prompt_logprobs"] = prompt_logprobs[index]
                if "stop_reason" in choice:
                    choices[index]["stop_reason"] = choice["stop_reason"]
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


def _joined(before: wire.CompletionLogprobs, after: wire.CompletionLogprobs) -> wire.CompletionLogprobs:
    top = before["top_logprobs"]
    return {
        "tokens": before["tokens"] + after["tokens"],
        "token_logprobs": before["token_logprobs"] + after["token_logprobs"],
        "top_logprobs": None if top is None else top + (after["top_logprobs"] or []),
        "text_offset": before["text_offset"] + after["text_offset"],
    }
