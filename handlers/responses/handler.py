"""Binds the responses endpoint to the engine."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from specvino.engine.protocol import Engine
from specvino.engine.request import GenerationRequest
from specvino.generated import models, wire
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError, engine_errors
from specvino.handlers.given import given
from specvino.handlers.models import ServedModel
from specvino.handlers.responses.emit import Emitter
from specvino.handlers.responses.fold import fold
from specvino.handlers.responses.request import to_generation_request

Events = AsyncGenerator[wire.ResponseStreamEvent]


class Responses:
    def __init__(self, engine: Engine, served: ServedModel) -> None:
        self._engine = engine
        self._served = served

    async def create_response(
        self, context: RequestContext, body: models.CreateResponseRequest
    ) -> wire.Response | AsyncGenerator[wire.ResponseStreamEvent]:
        self._served.require(body.model)
        with engine_errors("input"):
            request = to_generation_request(body, self._engine.model.defaults)
        emitter = Emitter(body, request.sampling)
        events = self._events(emitter, request)
        if given(body.stream):
            # The first event comes when the request is admitted: what is wrong with it is a status, not an event.
            first = await anext(events)
            return _shown(first, events, emitter)
        async with aclosing(events):
            return await fold(events)

    async def retrieve_response(
        self,
        context: RequestContext,
        response_id: str,
        stream: bool,
        starting_after: int | None,
        include_obfuscation: bool,
        include: list[str] | None,
    ) -> wire.Response | AsyncGenerator[wire.ResponseStreamEvent]:
        raise NotImplementedError

    async def delete_response(self, context: RequestContext, response_id: str) -> wire.ResponseDeletion:
        raise NotImplementedError

    async def cancel_response(self, context: RequestContext, response_id: str) -> wire.Response:
        raise NotImplementedError

    async def list_input_items(
        self,
        context: RequestContext,
        response_id: str,
        after: str | None,
        limit: int,
        order: Literal["asc", "desc"],
        include: list[str] | None,
    ) -> wire.ResponseItemList:
        raise NotImplementedError

    async def _events(self, emitter: Emitter, request: GenerationRequest) -> Events:
        with engine_errors("input"):
            async with aclosing(self._engine.generate(request)) as segments:
                async for segment in segments:
                    for event in emitter.feed(segment):
                        yield event


async def _shown(first: wire.ResponseStreamEvent, rest: Events, emitter: Emitter) -> Events:
    """The stream; what goes wrong from now on is the response's last event."""
    async with aclosing(rest):
        yield first
        try:
            async for event in rest:
                yield event
        except ApiError as error:
            yield emitter.fail(error)
