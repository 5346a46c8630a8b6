"""Binds the responses endpoint to the engine."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import Engine
from specvino.engine.request import Conversation, GenerationRequest
from specvino.engine.segments import Segment, Started
from specvino.generated import models, wire
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.generated.support import DEFAULTS
from specvino.handlers import forms, template, tools
from specvino.handlers.errors import ApiError, engine_errors
from specvino.handlers.forms import Form
from specvino.handlers.given import given
from specvino.handlers.limits import Limits
from specvino.handlers.media import Media
from specvino.handlers.models import ServedModel
from specvino.handlers.refusals import without_effect
from specvino.handlers.responses import items
from specvino.handlers.responses.background import Background
from specvino.handlers.responses.earlier import earlier, resolved, store_errors
from specvino.handlers.responses.emit import Emitter
from specvino.handlers.responses.fold import fold
from specvino.handlers.responses.recording import Events, recorded
from specvino.handlers.responses.request import image_sources, to_generation_request
from specvino.handlers.responses.sealed import INCLUDE, opened, sealed
from specvino.handlers.responses.stored import StoredResponses
from specvino.handlers.responses.truncation import shortened
from specvino.handlers.sealing import Sealer
from specvino.handlers.store import Item, ResponseStore
from specvino.handlers.tools import Offer

_STORE = DEFAULTS["CreateResponseRequest"]["store"]


class Responses(StoredResponses):
    def __init__(
        self, engine: Engine, served: ServedModel, limits: Limits, media: Media, store: ResponseStore, sealer: Sealer
    ) -> None:
        super().__init__(store, Background(store))
        self._engine = engine
        self._media = media
        self._served = served
        self._limits = limits
        self._sealer = sealer

    async def close(self) -> None:
        """Ends what is made in the background."""
        await self._background.close()

    async def create_response(
        self, context: RequestContext, body: models.CreateResponseRequest
    ) -> wire.ResponseObject | AsyncGenerator[wire.ResponseStreamEvent]:
        self._served.require(body.model)
        store = self._stores(context, body)
        body, own = await self._read(context, body)
        before = await earlier(body, self._store)
        form = forms.of_response(body, strict=context.refuses_unsupported)
        with engine_errors("input"):
            model = self._engine.model
            self._limits.require(body, model.drafting)
            images = await self._media.load(image_sources(body, before))
            request = to_generation_request(body, model.defaults, before, images, form)
        offer = tools.of_response(context, body, model.calling)
        effort = given(reasoning.effort) if (reasoning := given(body.reasoning)) else None
        variables = template.variables(context, model, given(body.chat_template_kwargs), effort, "reasoning.effort")
        request = offer.applied(request, variables)
        emitter = Emitter(body, request.sampling, store)
        events = self._events(context, emitter, request, form, offer, given(body.truncation) == "auto")
        if INCLUDE in (given(body.include) or ()):
            events = sealed(events, self._sealer)
        if given(body.background):
            with store_errors():
                running = await self._background.start(events, emitter, own)
            return running.events(0) if given(body.stream) else running.response
        if given(body.stream):
            # The first event comes when the request is admitted: what is wrong with it is a status, not an event.
            first = await anext(events)
            shown = _shown(first, events, emitter)
            return recorded(shown, own, self._store) if store else shown
        async with aclosing(recorded(events, own, self._store) if store else events) as answer:
            return await fold(answer)

    def _stores(self, context: RequestContext, body: models.CreateResponseRequest) -> bool:
        """Whether the response shall be stored. Raises ApiError where it must be, but can't."""
        if self._store.keeps:
            wanted = given(body.store)
            return _STORE if wanted is None else wanted
        if given(body.background):
            message = "background needs the response to be stored, but this server was started without a store."
            raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param="background")
        if given(body.store):
            without_effect(context, "store")
        return False

    async def _read(
        self, context: RequestContext, body: models.CreateResponseRequest
    ) -> tuple[models.CreateResponseRequest, list[Item]]:
        """The request with what its input refers to and what is sealed in it; and the input as it is stored."""
        if isinstance(body.input, str):
            return body, items.stored(body.input)
        unsealed = [opened(item, f"input.{index}", self._sealer) for index, item in enumerate(body.input)]
        input = await resolved(unsealed, self._store)
        for index, item in enumerate(input):
            if isinstance(item, models.InputItemReference):
                without_effect(context, f"input.{index}")
        kept = [item for item in input if not isinstance(item, models.InputItemReference)]
        return body.model_copy(update={"input": input}), items.stored(kept)

    async def _events(
        self,
        context: RequestContext,
        emitter: Emitter,
        request: GenerationRequest,
        form: Form | None,
        offer: Offer,
        shorten: bool,
    ) -> Events:
        with engine_errors("input"), forms.refusals(form), offer.refusals():
            async with aclosing(self._segments(request, shorten)) as segments:
                async for segment in segments:
                    if isinstance(segment, Started):
                        context.unsupported += [*(form.unenforced(segment) if form else ()), *offer.unenforced(segment)]
                    for event in emitter.feed(segment):
                        yield event

    async def _segments(self, request: GenerationRequest, shorten: bool) -> AsyncGenerator[Segment]:
        """The engine's; where the request is too long and may be shortened, those of what fits."""
        while True:
            try:
                async with aclosing(self._engine.generate(request)) as segments:
                    async for segment in segments:
                        yield segment
                return
            except ContextLengthExceeded as error:
                shorter = await self._shortened(request, error) if shorten else None
                if shorter is None:
                    raise
                request = shorter

    async def _shortened(self, request: GenerationRequest, error: ContextLengthExceeded) -> GenerationRequest | None:
        (conversation,) = request.prompts
        if not isinstance(conversation, Conversation):
            return None
        contents = [message.content for message in conversation.messages]
        sizes = [len(ids) for ids in await self._engine.tokenize(contents, add_special_tokens=False)]
        # With images nobody knows how much too long it is: then it gets shorter little by little.
        excess = (
            1 if error.prompt_tokens is None else error.prompt_tokens + (error.max_tokens or 1) - error.context_length
        )
        messages = shortened(conversation.messages, sizes, excess)
        if messages is None:
            return None
        return replace(request, prompts=(replace(conversation, messages=messages),))


async def _shown(first: wire.ResponseStreamEvent, rest: Events, emitter: Emitter) -> Events:
    """The stream; what goes wrong from now on is the response's last event."""
    async with aclosing(rest):
        yield first
        try:
            async for event in rest:
                yield event
        except ApiError as error:
            yield emitter.fail(error)
