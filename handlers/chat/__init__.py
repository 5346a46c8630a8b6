"""POST /chat/completions."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.chat.emit import ChatEmitter, fold
from specvino.handlers.chat.request import echoed, matched, request_fields, to_messages
from specvino.handlers.chunks import shows_stop_reason, streamed
from specvino.handlers.fields import or_none
from specvino.handlers.full_logits import shown_logprobs
from specvino.handlers.pipeline import Pipeline


class Chat:
    """POST /chat/completions."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def create_chat_completion(
        self, context: RequestContext, body: models.CreateChatCompletionRequest
    ) -> Reply[wire.ChatCompletion | AsyncGenerator[wire.ChatCompletionStreamEvent]]:
        """Answers with the whole completion, or with a stream of its chunks."""
        request = self._pipeline.check(context, request_fields(body))
        vision = request.model.vision and not or_none(body.disable_chat_template)
        messages = list(to_messages(body, vision=vision))
        unmatched = matched(body.messages).reported(context)
        emitter = ChatEmitter(
            body.model,
            request.engine_request.n,
            request_id=or_none(body.request_id),
            top_logprobs=shown_logprobs(request.engine_request),
            stop_reason=shows_stop_reason(context, body),
            arrival_times=context.extensions,
            tools=request.tools,
            echo=echoed(body),
            token_ids=or_none(body.return_token_ids) or False,
        )
        generation = await self._pipeline.converse(request, messages)
        if or_none(body.stream):
            chunks = generation.events(streamed(emitter.feed, body))
            return Reply(chunks, (*unmatched, *generation.unsupported))
        async with aclosing(generation.events(emitter.feed)) as chunks:
            return Reply(await fold(chunks), (*unmatched, *generation.unsupported))
