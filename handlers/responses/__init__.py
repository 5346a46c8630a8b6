"""POST /responses, and the operations on stored responses."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.generated.support import DEFAULTS
from specvino.handlers.encryption import Cipher
from specvino.handlers.errors import ApiError, reported
from specvino.handlers.fields import or_none
from specvino.handlers.full_logits import shown_logprobs
from specvino.handlers.pipeline import CheckedRequest, Generate, Pipeline
from specvino.handlers.responses.background import Background
from specvino.handlers.responses.compaction import Compactor
from specvino.handlers.responses.conversation import ResponseConversation, read_conversation, to_conversation
from specvino.handlers.responses.emit import ResponseEmitter, fold
from specvino.handlers.responses.encrypted_reasoning import INCLUDE, encrypted
from specvino.handlers.responses.persistence import Events, Persistence, store_errors
from specvino.handlers.responses.request import conversation_of, counted, matched, request_fields, to_summarize
from specvino.handlers.responses.stored import StoredResponses
from specvino.handlers.store import ResponseStore
from specvino.handlers.truncation import generate_shortened

_STORE = DEFAULTS["CreateResponseRequest"]["store"]


class Responses(StoredResponses):
    """POST /responses, and the operations on stored responses."""

    def __init__(self, pipeline: Pipeline, store: ResponseStore, cipher: Cipher) -> None:
        super().__init__(store, Background(store))
        self._persistence = Persistence(store)
        self._pipeline = pipeline
        self._cipher = cipher
        self._compactor = Compactor(pipeline, cipher)

    @property
    def in_background(self) -> int:
        """The number of responses that are being made in the background."""
        return len(self._background)

    async def close(self) -> None:
        """Ends the responses that are being made in the background, and stores those whose clients left."""
        await self._background.close()
        await self._persistence.close()

    async def create_response(
        self, context: RequestContext, body: models.CreateResponseRequest
    ) -> Reply[wire.ResponseObject | AsyncGenerator[wire.ResponseStreamEvent]]:
        """Answers with the whole response, or a stream of its events; in background mode, with the response so far."""
        try:
            return await self._created(context, body)
        except ApiError:
            if context.turn:
                context.turn.session.forget(or_none(body.previous_response_id))
            raise

    async def _created(
        self, context: RequestContext, body: models.CreateResponseRequest
    ) -> Reply[wire.ResponseObject | Events]:
        turn = context.turn
        conversation, request = await self._checked(context, body)
        opened = conversation.opened
        unmatched = matched(opened.earlier, opened.input, opened.continued).reported(context)
        stores, without_store = self._stores(body)
        unsupported = reported(context, without_store)
        generates = turn is None or turn.generates
        vision = request.model.vision
        # Instructions ask for an answer, even without input.
        required = generates and not (context.answers_empty_input and not or_none(body.instructions))
        messages = to_conversation(body, conversation.opened, vision=vision, required=required)
        compacted = await self._compactor.if_above_threshold(context, body, request, messages)
        emitter = ResponseEmitter(
            body,
            request.engine_request.sampling,
            stores,
            top_logprobs=shown_logprobs(request.engine_request),
            tools=request.tools,
            compaction=compacted.item if compacted else None,
        )
        messages = compacted.messages if compacted else messages
        if generates and not messages:
            generation = self._pipeline.unasked(request)
        elif generates:
            generation = await self._pipeline.converse(request, messages, _shortening(body, request))
        else:
            generation = await self._pipeline.prepare(request, messages, _shortening(body, request))
        events: Events = generation.events(emitter.feed)
        if INCLUDE in (or_none(body.include) or ()):
            events = encrypted(events, self._cipher)
        if generates and (id := conversation_of(body)):
            events = self._persistence.conversing(events, id, conversation.own, context.owner)
        if turn and not stores:
            before = [*conversation.previous, *conversation.own]
            events = turn.following(events, before, or_none(body.previous_response_id))
        answer = await self._answer(context, body, emitter, events, conversation, stores)
        return Reply(answer, (*unmatched, *unsupported, *generation.unsupported))

    async def count_input_tokens(
        self, context: RequestContext, body: models.InputTokensRequest
    ) -> Reply[wire.InputTokens]:
        """Counts the tokens of the prompt that a response with the same fields would have."""
        asked = counted(body)
        conversation, request = await self._checked(context, asked)
        messages = to_conversation(asked, conversation.opened, vision=request.model.vision)
        tokens = await self._pipeline.count(request, messages, _shortening(asked, request))
        return Reply({"object": "response.input_tokens", "input_tokens": tokens}, request.unsupported)

    async def compact_response(
        self, context: RequestContext, body: models.CompactRequest
    ) -> Reply[wire.CompactedResponse]:
        """Answers with the user's messages and a summary of the conversation."""
        asked = to_summarize(
            body.model,
            input=or_none(body.input) or [],
            instructions=or_none(body.instructions),
            previous_response_id=or_none(body.previous_response_id),
        )
        conversation, request = await self._checked(context, asked)
        messages = to_conversation(asked, conversation.opened, vision=request.model.vision)
        strict = reported(context, [f"{tool.param}.strict" for tool in request.fields.more_tools if tool.strict])
        compacted = await self._compactor.response(request, messages, conversation.opened)
        return Reply(compacted, (*request.unsupported, *strict))

    async def _checked(
        self, context: RequestContext, body: models.CreateResponseRequest
    ) -> tuple[ResponseConversation, CheckedRequest]:
        serving = self._pipeline.serving(context, body)  # its errors come before those of what the body refers to
        conversation = await read_conversation(
            body, self._store, self._cipher, context.owner, context.turn.session if context.turn else None
        )
        opened = conversation.opened
        fields = request_fields(body, opened.input, opened.earlier, opened.continued)
        return conversation, self._pipeline.check(context, fields, serving)

    def _stores(self, body: models.CreateResponseRequest) -> tuple[bool, tuple[str, ...]]:
        """Returns whether to store the response, and the field without effect if it can't be stored."""
        if self._store.keeps:
            wanted = or_none(body.store)
            return (_STORE if wanted is None else wanted), ()
        return False, ("store",) if or_none(body.store) else ()

    async def _answer(
        self,
        context: RequestContext,
        body: models.CreateResponseRequest,
        emitter: ResponseEmitter,
        events: Events,
        conversation: ResponseConversation,
        stores: bool,
    ) -> wire.ResponseObject | Events:
        if or_none(body.background):
            with store_errors():
                running = await self._background.start(events, emitter, conversation.own, context.owner)
            return running.events(0) if or_none(body.stream) else running.response
        if or_none(body.stream):
            first = await anext(events)  # made when the request was admitted, so this doesn't wait
            shown = _shown(first, events, emitter)
            if stores:
                return self._persistence.persisted(shown, conversation.own, context.owner, emitter.leave)
            return shown
        if stores:
            events = self._persistence.persisted(events, conversation.own, context.owner)
        async with aclosing(events):
            return await fold(events)


def _shortening(body: models.CreateResponseRequest, request: CheckedRequest) -> Generate | None:
    """Returns what generates instead of the engine where a conversation may be shortened."""
    return partial(generate_shortened, request.served.engine) if or_none(body.truncation) == "auto" else None


async def _shown(first: wire.ResponseStreamEvent, rest: Events, emitter: ResponseEmitter) -> Events:
    """Yields the stream's events; an error after the first one becomes the response's last event."""
    async with aclosing(rest):
        yield first
        try:
            async for event in rest:
                yield event
        except ApiError as error:
            yield emitter.fail(error)
