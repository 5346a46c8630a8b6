"""POST /completions: prompts are continued without a chat template and without tools."""

import time
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Literal

from specvino.engine.request import Prompt, TextPrompt, TokenPrompt
from specvino.engine.segments import (
    Finish,
    PromptLogprobs,
    PromptText,
    ReasoningDelta,
    Segment,
    Started,
    TextDelta,
    TokenIds,
    TokenLogprob,
    ToolCallArguments,
    ToolCallEnd,
    ToolCallStart,
    Usage,
)
from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.chunks import PendingTokens, answer_id, counts_tokens, shows_stop_reason, streamed, usage_to_wire
from specvino.handlers.fields import or_none
from specvino.handlers.full_logits import shown_logprobs
from specvino.handlers.logprobs import PendingPromptLogprobs, completion_logprobs
from specvino.handlers.pipeline import Pipeline, RequestFields


class Completions:
    """POST /completions."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def create_completion(
        self, context: RequestContext, body: models.CreateCompletionRequest
    ) -> Reply[wire.Completion | AsyncGenerator[wire.CompletionStreamEvent]]:
        """Answers with the whole completion, or with a stream of its chunks."""
        request = self._pipeline.check(context, request_fields(body))
        emitter = CompletionEmitter(
            body.model,
            request.engine_request.n,
            request_id=or_none(body.request_id),
            top_logprobs=shown_logprobs(request.engine_request),
            stop_reason=shows_stop_reason(context, body),
            arrival_times=context.extensions,
            token_ids=or_none(body.return_token_ids) or False,
        )
        generation = await self._pipeline.start(request, to_prompts(body))
        if or_none(body.stream):
            # The first chunk comes with the first text: an error before it is a status, not an event.
            generation = await generation.begun()
            shown = streamed(emitter.feed, body)
            return Reply(generation.events(shown), generation.unsupported)
        async with aclosing(generation.events(emitter.feed)) as chunks:
            return Reply(await fold(chunks), generation.unsupported)


def request_fields(body: models.CreateCompletionRequest) -> RequestFields:
    """Returns the fields as the pipeline names them."""
    logprobs = or_none(body.logprobs)
    return RequestFields(
        body=body,
        prompt_param="prompt_token_ids" if or_none(body.prompt_token_ids) else "prompt",
        echo=or_none(body.echo) or False,
        logprobs=logprobs is not None,
        top_logprobs=logprobs or 0,
        top_param="logprobs",
        token_ids=or_none(body.return_token_ids) or counts_tokens(body),
        token_fields=() if _special(body) else ("add_special_tokens",),
    )


def to_prompts(body: models.CreateCompletionRequest) -> tuple[Prompt, ...]:
    """Returns the prompts of a body: texts, or token ids."""
    prompt: str | list[str] | list[int] | list[list[int]] = or_none(body.prompt_token_ids) or body.prompt
    if isinstance(prompt, str):
        return (TextPrompt(prompt, _special(body)),)
    if isinstance(prompt[0], int):
        return (TokenPrompt(tuple(prompt)),)
    return tuple(
        TextPrompt(item, _special(body)) if isinstance(item, str) else TokenPrompt(tuple(item)) for item in prompt
    )


def _special(body: models.CreateCompletionRequest) -> bool:
    return or_none(body.add_special_tokens) is not False


class CompletionEmitter:
    """Creates the chunks of one answer, without I/O; each prompt has `n` choices. The chunks are complete: the unary
    answer is their fold; a stream sends the requested part.
    """

    def __init__(
        self,
        model: str,
        n: int,
        *,
        request_id: str | None = None,
        top_logprobs: int = 0,
        stop_reason: bool = False,
        arrival_times: bool = False,
        token_ids: bool = False,
    ) -> None:
        self._id = answer_id("cmpl-", request_id)
        self._created = int(time.time())
        self._model = model
        self._n = n
        self._tokens = PendingTokens() if token_ids else None
        self._prompts: dict[int, tuple[int, ...] | None] = {}  # by choice, until its first chunk
        self._top = top_logprobs
        self._prompt_logprobs = PendingPromptLogprobs()
        self._stop_reason = stop_reason
        self._begun = time.monotonic() if arrival_times else None
        self._offsets: defaultdict[int, int] = defaultdict(int)  # of each choice's next token, in characters

    def feed(self, segment: Segment) -> Sequence[wire.CompletionChunk]:
        """Returns the chunks of a segment. Raw prompts are continued with text only: no reasoning, no calls."""
        match segment:
            case Started(prompt_token_ids=prompts) if self._tokens is not None:
                self._prompts = {p * self._n + i: ids for p, ids in enumerate(prompts) for i in range(self._n)}
                return []
            case PromptLogprobs():
                self._prompt_logprobs.add(segment)
                return []
            case TokenIds() if self._tokens is not None:
                self._tokens.add(segment)
                return []
            case TextDelta(choice, text, logprobs) | PromptText(choice, text, logprobs):
                return [self._chunk([self._choice(choice, text, None, logprobs)])]
            case Finish(choice, reason, logprobs, stopped_by):
                assert reason != "tool_calls"
                last = self._choice(choice, "", reason, logprobs)
                if self._stop_reason:
                    last["stop_reason"] = stopped_by
                return [self._chunk([last])]
            case Usage():
                chunk = self._chunk([])
                chunk["usage"] = usage_to_wire(segment)
                return [chunk]
            case ReasoningDelta() | ToolCallStart() | ToolCallArguments() | ToolCallEnd():
                raise AssertionError(segment)
            case _:
                return []

    def _chunk(self, choices: list[wire.CompletionChunkChoice]) -> wire.CompletionChunk:
        if self._begun is not None:
            for choice in choices:
                choice["arrival_time"] = time.monotonic() - self._begun
        return {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": choices,
        }

    def _choice(
        self, index: int, text: str, reason: Literal["stop", "length"] | None, tokens: tuple[TokenLogprob, ...]
    ) -> wire.CompletionChunkChoice:
        logprobs = completion_logprobs(tokens, self._top, self._offsets[index]) if tokens else None
        self._offsets[index] += sum(len(token.text) for token in tokens)
        choice: wire.CompletionChunkChoice = {
            "index": index,
            "text": text,
            "logprobs": logprobs,
            "finish_reason": reason,
        }
        if index in self._prompts:
            ids = self._prompts.pop(index)
            choice["prompt_token_ids"] = None if ids is None else list(ids)
        if self._tokens is not None:
            choice["token_ids"] = choice["completion_token_ids"] = self._tokens.take(index)
        if self._prompt_logprobs.waiting:
            self._prompt_logprobs.give(choice)
        return choice


async def fold(chunks: AsyncIterator[wire.CompletionChunk]) -> wire.Completion:
    """Joins the chunks of a complete stream, with usage, to the unary answer."""
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
