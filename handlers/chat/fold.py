"""Chunks -> the unary answer."""

from collections.abc import AsyncIterator

from specvino.generated import wire


class _Message:
    """A choice's message as it grows."""

    def __init__(self) -> None:
        self.logprobs: list[wire.TokenLogprob] | None = None
        self.token_ids: list[int] | None = None
        self.prompt_logprobs: list[dict[str, wire.PromptTokenLogprob] | None] | None = None
        self.prompt: list[int] | None = None
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[wire.ChatToolCall] = []
        self._arguments: list[list[str]] = []  # of each call
        self._legacy: wire.ChatFunctionCall | None = None

    def add(self, delta: wire.ChatDelta) -> None:
        if "prompt_token_ids" in delta:
            self.prompt, self.token_ids = delta["prompt_token_ids"], []
        if self.token_ids is not None:
            self.token_ids += delta.get("completion_token_ids") or ()
        self._text.append(delta.get("content") or "")
        self._reasoning.append(delta.get("reasoning_content") or "")
        for call in delta.get("tool_calls", ()):
            function = call["function"]
            if "id" in call:
                self._calls.append(
                    {"id": call["id"], "type": "function", "function": {"name": function["name"], "arguments": ""}}
                )
                self._arguments.append([])
            self._arguments[call["index"]].append(function["arguments"])
        if legacy := delta.get("function_call"):
            if self._legacy is None:
                self._legacy = {"name": legacy["name"], "arguments": ""}
                self._arguments.append([])
            self._arguments[-1].append(legacy["arguments"])

    def whole(self) -> wire.ChatMessage:
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        called = bool(self._calls) or self._legacy is not None
        message: wire.ChatMessage = {"role": "assistant", "content": text, "refusal": None}
        if called and not text:
            message["content"] = None
        if reasoning:
            message["reasoning_content"] = message["reasoning"] = reasoning
        if self._calls:
            for call, arguments in zip(self._calls, self._arguments, strict=True):
                call["function"]["arguments"] = "".join(arguments)
            message["tool_calls"] = self._calls
        if self._legacy is not None:
            message["function_call"] = {**self._legacy, "arguments": "".join(self._arguments[-1])}
        if self.token_ids is not None:
            message["prompt_token_ids"], message["completion_token_ids"] = self.prompt, self.token_ids
        return message


async def fold(chunks: AsyncIterator[wire.ChatCompletionChunk]) -> wire.ChatCompletion:
    """Joins the chunks of one whole stream, usage included."""
    messages: dict[int, _Message] = {}
    choices: dict[int, wire.ChatChoice] = {}
    async for chunk in chunks:
        for choice in chunk["choices"]:
            index, reason = choice["index"], choice["finish_reason"]
            message = messages.setdefault(index, _Message())
            message.add(choice["delta"])
            if choice["logprobs"] is not None:
                message.logprobs = message.logprobs or []
                message.logprobs += choice["logprobs"]["content"] or ()
            if "prompt_logprobs" in choice:
                message.prompt_logprobs = choice["prompt_logprobs"]
            if reason is not None:
                tokens: wire.ChatLogprobs | None = None
                if message.logprobs is not None:
                    tokens = {"content": message.logprobs, "refusal": None}
                choices[index] = {
                    "index": index,
                    "message": message.whole(),
                    "logprobs": tokens,
                    "finish_reason": reason,
                }
                if message.token_ids is not None:
                    choices[index]["token_ids"] = message.token_ids
                if message.prompt_logprobs is not None:
                    choices[index]["prompt_logprobs"] = message.prompt_logprobs
                if "stop_reason" in choice:
                    choices[index]["stop_reason"] = choice["stop_reason"]
        usage = chunk.get("usage")
        if usage is not None:  # the last chunk
            whole: wire.ChatCompletion = {
                "id": chunk["id"],
                "object": "chat.completion",
                "created": chunk["created"],
                "model": chunk["model"],
                "choices": [choices[index] for index in sorted(choices)],
                "usage": usage,
            }
            if messages[0].token_ids is not None:
                whole["prompt_token_ids"] = messages[0].prompt
            if messages[0].prompt_logprobs is not None:
                whole["prompt_logprobs"] = messages[0].prompt_logprobs
            return whole
    raise RuntimeError("the stream ended without usage")
