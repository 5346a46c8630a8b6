"""POST /messages and /messages/count_tokens."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import Engine
from specvino.engine.request import GenerationRequest
from specvino.engine.segments import Segment
from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.encryption import Cipher
from specvino.handlers.fields import or_none, value_at
from specvino.handlers.media import MessageDraft
from specvino.handlers.messages.emit import MessageEmitter, fold
from specvino.handlers.messages.request import Body, matched, request_fields, to_messages
from specvino.handlers.pipeline import Pipeline


class Messages:
    """POST /messages and /messages/count_tokens. The `cipher` signs reasoning."""

    def __init__(self, pipeline: Pipeline, cipher: Cipher) -> None:
        self._pipeline = pipeline
        self._cipher = cipher

    async def create_message(
        self, context: RequestContext, body: models.CreateMessageRequest
    ) -> Reply[wire.AnthropicMessage | AsyncGenerator[wire.AnthropicStreamEvent]]:
        """Answers with the whole message, or with a stream of its events."""
        request = self._pipeline.check(context, request_fields(body))
        messages, unmatched = self._read(context, body, vision=request.model.vision)
        omits_thinking = value_at(body, "thinking.display") == "omitted"
        emitter = MessageEmitter(body.model, body.max_tokens, self._cipher, omits_thinking=omits_thinking)
        generate = partial(_within_context, request.served.engine)
        generation = await self._pipeline.converse(request, messages, generate)
        events = generation.events(emitter.feed)
        if or_none(body.stream):
            return Reply(events, (*unmatched, *generation.unsupported))
        async with aclosing(events):
            return Reply(await fold(events), (*unmatched, *generation.unsupported))

    async def count_message_tokens(
        self, context: RequestContext, body: models.CountTokensRequest
    ) -> Reply[wire.CountTokensResponse]:
        """Answers with the number of tokens of the prompt."""
        request = self._pipeline.check(context, request_fields(body))
        messages, unmatched = self._read(context, body, vision=request.model.vision)
        tokens = await self._pipeline.count(request, messages)
        return Reply({"input_tokens": tokens}, (*unmatched, *request.unsupported))

    def _read(self, context: RequestContext, body: Body, *, vision: bool) -> tuple[list[MessageDraft], tuple[str, ...]]:
        """Returns the messages, and the ids without a counterpart. Other systems neither require one nor sign
        reasoning, as Anthropic does.
        """
        if context.extensions:
            return list(to_messages(body, None, vision=vision)), matched(body.messages).reported(context)
        return list(to_messages(body, self._cipher, vision=vision)), ()


async def _within_context(engine: Engine, request: GenerationRequest) -> AsyncGenerator[Segment]:
    """Yields the engine's segments. If the context has less room than `max_tokens`, the answer ends where it does."""
    try:
        async with aclosing(engine.generate(request)) as segments:
            async for segment in segments:
                yield segment
        return
    except ContextLengthExceeded as error:
        tokens = error.prompt_tokens  # unknown with images: then the engine's own limit applies
        left = None if tokens is None else error.context_length - tokens
        if error.max_tokens is None or (left is not None and left < 1):
            raise
    shorter = replace(request, sampling=replace(request.sampling, max_tokens=left))
    async with aclosing(engine.generate(shorter)) as segments:
        async for segment in segments:
            yield segment
