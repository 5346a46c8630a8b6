"""Binds the chat endpoint to the engine."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from specvino.engine.protocol import Engine
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers.chat.emit import Emitter
from specvino.handlers.chat.fold import fold
from specvino.handlers.chat.request import to_generation_request
from specvino.handlers.errors import EngineAnswer, from_engine
from specvino.handlers.given import given
from specvino.handlers.models import ServedModel

Chunks = AsyncGenerator[wire.ChatCompletionChunk]


class Chat:
    def __init__(self, engine: Engine, served: ServedModel) -> None:
        self._engine = engine
        self._served = served

    async def create_chat_completion(
        self, context: RequestContext, body: models.CreateChatCompletionRequest
    ) -> wire.ChatCompletion | AsyncGenerator[wire.ChatCompletionStreamEvent]:
        self._served.require(body.model)
        chunks = self._chunks(body)
        if given(body.stream):
            # The first chunk comes when the request is admitted: what is wrong with it is a status, not an event.
            first = await anext(chunks)
            return _shown(first, chunks, include_usage=_include_usage(body))
        async with aclosing(chunks):
            return await fold(chunks)

    async def _chunks(self, body: models.CreateChatCompletionRequest) -> Chunks:
        try:
            request = to_generation_request(body, self._engine.model.defaults)
            emitter = Emitter(body.model, request.n)
            async with aclosing(self._engine.generate(request)) as segments:
                async for segment in segments:
                    for chunk in emitter.feed(segment):
                        yield chunk
        except EngineAnswer as error:
            raise from_engine(error, prompt="messages") from error


def _include_usage(body: models.CreateChatCompletionRequest) -> bool:
    options = given(body.stream_options)
    return options is not None and (given(options.include_usage) or False)


async def _shown(
    first: wire.ChatCompletionChunk, rest: Chunks, include_usage: bool
) -> AsyncGenerator[wire.ChatCompletionStreamEvent]:
    """What a stream shows: usage only where asked for, and then a null one in all chunks before the last."""
    async with aclosing(rest):
        if include_usage:
            first["usage"] = None
        yield first
        async for chunk in rest:
            if include_usage:
                chunk.setdefault("usage", None)
                yield chunk
            elif "usage" not in chunk:
                yield chunk
