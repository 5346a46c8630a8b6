"""Binds the completions endpoint to the engine."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers import usage
from specvino.handlers.completions.emit import CompletionEmitter
from specvino.handlers.completions.fold import fold
from specvino.handlers.completions.request import request_fields, to_prompts
from specvino.handlers.or_none import or_none
from specvino.handlers.pipeline import Pipeline
from specvino.handlers.stop_reason import shows_stop_reason


class Completions:
    """POST /completions."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    async def create_completion(
        self, context: RequestContext, body: models.CreateCompletionRequest
    ) -> Reply[wire.Completion | AsyncGenerator[wire.CompletionStreamEvent]]:
        """Answers with the whole completion, or a stream of its chunks."""
        request = self._pipeline.check(context, request_fields(body))
        emitter = CompletionEmitter(
            body.model,
            request.fields.n,
            request_id=or_none(body.request_id),
            top_logprobs=request.logprobs.shown,
            stop_reason=shows_stop_reason(context, body),
            arrival_times=context.extensions,
        )
        generation = await self._pipeline.start(request, to_prompts(body))
        if or_none(body.stream):
            # The first chunk comes with the first text: what goes wrong before is a status, not an event.
            generation = await generation.begun()
            shown = usage.shown(emitter.feed, usage.wanted(body.stream_options))
            return Reply(generation.events(shown), generation.unsupported)
        async with aclosing(generation.events(emitter.feed)) as chunks:
            return Reply(await fold(chunks), generation.unsupported)
