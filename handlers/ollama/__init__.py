"""POST /api/chat and /api/generate: Ollama's own API."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import Engine
from specvino.engine.request import GenerationRequest
from specvino.generated import models, wire
from specvino.generated.handlers import Reply, RequestContext
from specvino.handlers.errors import reported
from specvino.handlers.fields import or_none
from specvino.handlers.full_logits import shown_logprobs
from specvino.handlers.models import ServedModels
from specvino.handlers.ollama.emit import ChatLines, GenerateLines, fold_chat, fold_generate
from specvino.handlers.ollama.request import (
    AnyBody,
    Body,
    matched,
    raw_prompt,
    request_fields,
    to_messages,
    truncates,
    without_random_seed,
)
from specvino.handlers.pipeline import AdmittedRequest, CheckedRequest, Pipeline
from specvino.handlers.truncation import generate_fitting, shorter_answer, shorter_conversation

_LATEST = ":latest"


class Ollama:
    """POST /api/chat and /api/generate."""

    def __init__(self, pipeline: Pipeline, served: ServedModels) -> None:
        self._pipeline = pipeline
        self._served = served

    async def ollama_chat(
        self, context: RequestContext, body: models.OllamaChatRequest
    ) -> Reply[wire.OllamaChatResponse | AsyncGenerator[wire.OllamaChatEvent]]:
        """Answers with the whole message, or with a stream of its parts."""
        request = self._pipeline.check(context, request_fields(self._plain(body)))
        messages = or_none(body.messages) or []
        unmatched = matched(messages).reported(context)
        generation = await (self._answer(request, body) if messages else self._pipeline.load(request))
        top = shown_logprobs(request.engine_request)
        lines = ChatLines(body.model, request.arrived, top, loads=not messages)
        events = generation.events(lines.feed)
        if messages and _streams(body):
            return Reply(events, (*unmatched, *generation.unsupported))
        async with aclosing(events):
            return Reply(await fold_chat(events), (*unmatched, *generation.unsupported))

    async def ollama_generate(
        self, context: RequestContext, body: models.OllamaGenerateRequest
    ) -> Reply[wire.OllamaGenerateResponse | AsyncGenerator[wire.OllamaGenerateEvent]]:
        """Answers with the whole text, or with a stream of its parts."""
        request = self._pipeline.check(context, request_fields(self._plain(body)))
        unused: tuple[str, ...] = ()
        prompt = or_none(body.prompt)
        if not prompt:
            generation = await self._pipeline.load(request)
        elif or_none(body.raw):
            unused = reported(context, [] if or_none(body.think) is None else ["think"])
            generation = await self._pipeline.start(request, [raw_prompt(body)])
        else:
            messages = list(to_messages(body, vision=request.model.vision))
            generation = await self._pipeline.converse(request, messages)
        top = shown_logprobs(request.engine_request)
        lines = GenerateLines(body.model, request.arrived, top, loads=not prompt)
        events = generation.events(lines.feed)
        if prompt and _streams(body):
            return Reply(events, (*unused, *generation.unsupported))
        async with aclosing(events):
            return Reply(await fold_generate(events), (*unused, *generation.unsupported))

    async def _answer(self, request: CheckedRequest, body: models.OllamaChatRequest) -> AdmittedRequest:
        messages = list(to_messages(body, vision=request.model.vision))
        if not truncates(body):
            return await self._pipeline.converse(request, messages)
        engine = request.served.engine
        fitting = partial(generate_fitting, engine, shorter=partial(_shorter, engine))
        return await self._pipeline.converse(request, messages, fitting)

    def _plain(self, body: AnyBody) -> AnyBody:
        """Returns the body with the name of a served model, which Ollama's clients may write with a tag, and without a
        seed that stands for none.
        """
        body = without_random_seed(body)
        name = body.model.removesuffix(_LATEST)
        if body.model in self._served.names or name not in self._served.names:
            return body
        return body.model_copy(update={"model": name})


def _streams(body: Body) -> bool:
    return or_none(body.stream) is not False


async def _shorter(
    engine: Engine, request: GenerationRequest, error: ContextLengthExceeded
) -> GenerationRequest | None:
    return await shorter_answer(request, error) or await shorter_conversation(engine, request, error)
