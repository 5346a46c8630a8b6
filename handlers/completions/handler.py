"""Binds the completions endpoint to the engine."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from specvino.engine.protocol import Engine
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers import usage
from specvino.handlers.completions.emit import Emitter
from specvino.handlers.completions.fold import fold
from specvino.handlers.completions.request import to_generation_request
from specvino.handlers.errors import engine_errors
from specvino.handlers.given import given
from specvino.handlers.limits import Limits
from specvino.handlers.models import ServedModel


class Completions:
    def __init__(self, engine: Engine, served: ServedModel, limits: Limits) -> None:
        self._engine = engine
        self._served = served
        self._limits = limits

    async def create_completion(
        self, context: RequestContext, body: models.CreateCompletionRequest
    ) -> wire.Completion | AsyncGenerator[wire.CompletionStreamEvent]:
        self._served.require(body.model)
        chunks = self._chunks(body)
        if given(body.stream):
            # The first chunk comes with the first text: what goes wrong before is a status, not an event.
            first = await anext(chunks)
            return usage.shown(first, chunks, usage.wanted(body.stream_options))
        async with aclosing(chunks):
            return await fold(chunks)

    async def _chunks(self, body: models.CreateCompletionRequest) -> AsyncGenerator[wire.CompletionChunk]:
        with engine_errors("prompt"):
            self._limits.require(body, self._engine.model.drafting)
            request = to_generation_request(body, self._engine.model.defaults)
            emitter = Emitter(body.model, top_logprobs=bool(given(body.logprobs)))
            async with aclosing(self._engine.generate(request)) as segments:
                async for segment in segments:
                    for chunk in emitter.feed(segment):
                        yield chunk
