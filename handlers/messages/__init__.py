"""POST /messages and /messages/count_tokens."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

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
        generation = await self._pipeline.converse(request, messages)
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
