"""Binds the chat endpoint to the engine."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from specvino.engine.protocol import Engine
from specvino.engine.segments import Started
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers import forms, template, tools, usage
from specvino.handlers.chat.emit import Emitter
from specvino.handlers.chat.fold import fold
from specvino.handlers.chat.request import image_sources, to_generation_request
from specvino.handlers.errors import engine_errors
from specvino.handlers.given import given
from specvino.handlers.limits import Limits
from specvino.handlers.media import Media
from specvino.handlers.models import ServedModel

Chunks = AsyncGenerator[wire.ChatCompletionChunk]


class Chat:
    def __init__(self, engine: Engine, served: ServedModel, limits: Limits, media: Media) -> None:
        self._engine = engine
        self._served = served
        self._limits = limits
        self._media = media

    async def create_chat_completion(
        self, context: RequestContext, body: models.CreateChatCompletionRequest
    ) -> wire.ChatCompletion | AsyncGenerator[wire.ChatCompletionStreamEvent]:
        self._served.require(body.model)
        chunks = self._chunks(context, body)
        if given(body.stream):
            # The first chunk comes when the request is admitted: what is wrong with it is a status, not an event.
            first = await anext(chunks)
            return usage.shown(first, chunks, usage.wanted(body.stream_options))
        async with aclosing(chunks):
            return await fold(chunks)

    async def _chunks(self, context: RequestContext, body: models.CreateChatCompletionRequest) -> Chunks:
        form = forms.of_chat(body, strict=context.refuses_unsupported)
        with engine_errors("messages"):
            model = self._engine.model
        offer = tools.of_chat(context, body, model.calling)
        variables = template.variables(
            context, model, given(body.chat_template_kwargs), given(body.reasoning_effort), "reasoning_effort"
        )
        with engine_errors("messages"), forms.refusals(form), offer.refusals():
            self._limits.require(body, model.drafting)
            images = await self._media.load(image_sources(body))
            request = offer.applied(to_generation_request(body, model.defaults, images, form), variables)
            emitter = Emitter(body.model, request.n, top_logprobs=bool(given(body.top_logprobs)), former=offer.former)
            async with aclosing(self._engine.generate(request)) as segments:
                async for segment in segments:
                    if isinstance(segment, Started):
                        context.unsupported += [*(form.unenforced(segment) if form else ()), *offer.unenforced(segment)]
                    for chunk in emitter.feed(segment):
                        yield chunk
