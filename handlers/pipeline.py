"""The steps from a request to the engine, in the same order for chat, completions, responses and messages.

1. `Pipeline.check`: everything that needs no prompt. The served model, conditions between fields and of this server
   (openapi/conditions.yaml; those in the schema of another endpoint come first), sampling, tools, structured output,
   chat template.
2. The endpoint makes prompts of its body. Responses read their store before the first step, after `Pipeline.serving`,
   since what they continue may have tools.
3. `Pipeline.start` or `Pipeline.converse`: images are read, from other servers too, and the engine admits the request.

So a mistake gets the same error on each endpoint, even if the request has several, and nothing is fetched for a request
that is rejected. The steps read their fields from the body, since the fields have one name on all endpoints; an
endpoint states the rest in `RequestFields`. The emitters of the endpoints handle the engine's segments.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import Conversation, GenerationRequest, Image, Message, Prompt, Truncation
from specvino.engine.segments import Finish, Hidden, ReasoningDelta, Segment, Started, Usage
from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.allowance import Allowance
from specvino.handlers.errors import ApiError, engine_errors, reported
from specvino.handlers.fields import value_of
from specvino.handlers.full_logits import without_full_logits
from specvino.handlers.limits import Limits, require_consistent, require_supported, tokenized_characters
from specvino.handlers.measuring import Measured
from specvino.handlers.media import Media, MessageDraft, fetches
from specvino.handlers.models import ServedModel, ServedModels
from specvino.handlers.sampling import Body, sampling, thinking_budget
from specvino.handlers.structured_outputs import StructuredOutput, refusals, structured_output
from specvino.handlers.template import TemplateVariables, conversation, template_variables
from specvino.handlers.tools import OfferedTool, ToolCalling, tool_calling
from specvino.handlers.truncation import generate_fitting, shorter_answer

Serving = tuple[ServedModel, ModelInfo]
Event = TypeVar("Event")
Item = TypeVar("Item")

# A placeholder for an image that hasn't been fetched yet.
_UNREAD = Image(1, 1, bytes(3))

# `Retry-After` of a request that took too long, in seconds.
_RETRY_AFTER = 5

_TRUNCATION = "truncate_prompt_tokens"
_AS_MANY_AS_FIT = -1

Generate = Callable[[GenerationRequest], AsyncGenerator[Segment]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFields:
    """A body, with the fields whose names or meanings differ between the endpoints.

    `prompt_param` is the field that contains the prompt, for errors. `echo` repeats the prompt. `logprobs` and
    `top_logprobs` are those of the answer, and `top_param` is the field with the latter. With `token_ids` the
    endpoint gets the answer's tokens. `truncation` is that of an endpoint that truncates by default. `token_fields` are
    the given fields, apart from truncation, that change the tokens of a prompt: they have no effect with
    vision-language models, whose pipeline tokenizes itself. `hidden` are the fields that the model's chat template may
    not render. `more_tools` are tools that the conversation adds to those of the body, and `removed_tools` the fields
    with those that it takes away. With `continues` the answer continues the conversation's last message.
    `limited_by_context` is as in `RequestContext`, for every client. `settings` has the paths of sampling settings that
    have another name in the body, or are in an object.
    """

    body: Body
    prompt_param: str
    echo: bool = False
    logprobs: bool = False
    top_logprobs: int = 0
    top_param: str = "top_logprobs"
    token_ids: bool = False
    truncation: Truncation | None = None
    token_fields: tuple[str, ...] = ()
    hidden: Mapping[Hidden, str] = field(default_factory=dict)
    more_tools: tuple[OfferedTool, ...] = ()
    removed_tools: frozenset[str] = frozenset()
    continues: bool = False
    limited_by_context: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRequest:
    """A request that is complete except for its prompts: `engine_request` has none yet.

    `served` is the model that answers it, and `model` its properties; `unsupported` are its fields without effect.
    `notes` are those of its exchange, and `arrived` is its arrival time by the clock of the measurements. `allowance`
    is what its key has left, None without limits. With `limited_by_context`, the answer ends where the context does.
    """

    fields: RequestFields
    served: ServedModel
    model: ModelInfo
    engine_request: GenerationRequest
    tools: ToolCalling
    output: StructuredOutput | None
    variables: TemplateVariables
    unsupported: tuple[str, ...]
    notes: dict[str, Any] = field(default_factory=dict)
    arrived: float = field(default_factory=perf_counter)
    allowance: Allowance | None = None
    limited_by_context: bool = False

    def with_prompts(self, prompts: Sequence[Prompt]) -> GenerationRequest:
        """Returns the request to the engine."""
        return replace(self.engine_request, prompts=tuple(prompts))

    def conversation(self, messages: Iterable[Message]) -> Conversation:
        """Returns the messages with the other inputs of the chat template."""
        fields = self.fields
        return conversation(fields.body, tuple(messages), self.tools.tools, self.variables, continues=fields.continues)

    def unenforced(self, started: Started) -> Iterator[str]:
        """Yields the fields whose schemas don't constrain the answer."""
        if self.output is not None:
            yield from self.output.unenforced(started)
        yield from self.tools.unenforced(started)

    def hidden(self, started: Started) -> Iterator[str]:
        """Yields the fields that the model's chat template doesn't render. Tools have an effect if a call is forced."""
        for part in started.hidden:
            if part in self.fields.hidden and not (part == "tools" and self.tools.forced_by):
                yield self.fields.hidden[part]

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Converts the engine's errors to ApiErrors with this request's fields."""
        with engine_errors(self.fields.prompt_param), refusals(self.output), self.tools.refusals():
            yield


@dataclass(frozen=True, slots=True)
class AdmittedRequest:
    """An admitted request: its segments, some of which have `arrived`. `unsupported` are the fields without effect."""

    arrived: tuple[Segment, ...]
    segments: AsyncGenerator[Segment]
    unsupported: tuple[str, ...]

    async def begun(self) -> "AdmittedRequest":
        """Waits for the first segment of the answer, and returns the request with it."""
        return replace(self, arrived=(*self.arrived, await anext(self.segments)))

    async def events(self, feed: Callable[[Segment], Iterable[Event]]) -> AsyncGenerator[Event]:
        """Yields the events that `feed` makes of each segment."""
        async with aclosing(self.segments):
            for segment in self.arrived:
                for event in feed(segment):
                    yield event
            async for segment in self.segments:
                for event in feed(segment):
                    yield event


class Pipeline:
    """The steps that all endpoints share, on the engine of the model that a request names. Each of its methods raises
    ApiError."""

    def __init__(self, served: ServedModels, limits: Limits, media: Media) -> None:
        self._served = served
        self._limits = limits
        self._media = media

    def serving(self, context: RequestContext, body: Body) -> Serving:
        """Returns the model that a request names, after the conditions of openapi/conditions.yaml."""
        require_consistent(body)
        served = self._served.require(body.model)
        context.notes["model"] = served.names[0]
        with engine_errors("model"):
            model = served.engine.model
        require_supported(body, self._limits.facts_with(model))
        return served, model

    def check(self, context: RequestContext, fields: RequestFields, serving: Serving | None = None) -> CheckedRequest:
        """Returns the request with its settings resolved; it needs no prompt, and doesn't wait. `serving` is the result
        of that method, if it was called before.
        """
        arrived = perf_counter()
        body, strict = fields.body, context.refuses_unsupported
        served, model = serving or self.serving(context, body)
        tools = tool_calling(body, model.calling, more=fields.more_tools, removed=fields.removed_tools, strict=strict)
        output = structured_output(body, strict=strict)
        variables = template_variables(body, model)
        truncation = _truncation(body)
        settings = sampling(body, model.defaults, fields.settings)
        budget, of_budget = thinking_budget(body, model)
        engine_request, of_full_logits = without_full_logits(
            GenerationRequest(
                prompts=(),
                sampling=settings,
                n=value_of(body, "n") or 1,
                echo=fields.echo,
                logprobs=fields.logprobs,
                top_logprobs=fields.top_logprobs,
                logprob_token_ids=tuple(dict.fromkeys(value_of(body, "logprob_token_ids") or ())),
                prompt_logprobs=value_of(body, "prompt_logprobs"),
                token_ids=fields.token_ids,
                truncation=truncation or fields.truncation,
                constraint=output.constraint if output else None,
                must_call=tools.forced_by is not None,
                parallel_calls=tools.parallel,
                owner=context.owner,
                priority=value_of(body, "priority") or 0,
                thinking_budget=budget,
            ),
            model,
            top_param=fields.top_param,
            held=any(tool.held for tool in tools.tools),
        )
        of_tokens = (*((_TRUNCATION,) if truncation else ()), *fields.token_fields) if model.vision else ()
        without_effect = (*tools.unsupported, *variables.unsupported, *of_budget, *of_tokens, *of_full_logits)
        return CheckedRequest(
            fields=fields,
            served=served,
            model=model,
            engine_request=engine_request,
            tools=tools,
            output=output,
            variables=variables,
            unsupported=reported(context, without_effect),
            notes=context.notes,
            arrived=arrived,
            allowance=context.allowance,
            limited_by_context=fields.limited_by_context or context.limited_by_context,
        )

    async def converse(
        self, request: CheckedRequest, messages: Sequence[MessageDraft], generate: Generate | None = None
    ) -> AdmittedRequest:
        """Reads the messages' images and starts the generation; `generate` as in `start`."""
        with request.refusals():
            if fetches(messages):
                unread = tuple(message.with_images([_UNREAD] * len(message.images)) for message in messages)
                await self._check(
                    request, request.conversation(unread), may_exceed=generate is not None or request.limited_by_context
                )
            read = await self._media.read(messages, request.served.engine)
        return await self.start(request, [request.conversation(read)], generate)

    async def prepare(
        self, request: CheckedRequest, messages: Sequence[MessageDraft], generate: Generate | None = None
    ) -> AdmittedRequest:
        """Processes the prompt, so that its prefix is in the cache; without messages there is none. Otherwise as
        `converse`, but without an output."""
        if not messages:
            return AdmittedRequest((Started(0),), _without_output(_nothing()), request.unsupported)
        generation = await self.converse(_prompt_only(request), messages, generate)
        return replace(generation, segments=_without_output(generation.segments))

    async def load(self, request: CheckedRequest) -> AdmittedRequest:
        """Returns when the model is loaded; the request has no prompt, as in `unasked`."""
        with request.refusals():
            await request.served.engine.loaded()
        return self.unasked(request)

    def unasked(self, request: CheckedRequest) -> AdmittedRequest:
        """Returns a request without a prompt as admitted: its choices have no output."""
        ends = [Finish(choice, "stop") for choice in range(request.engine_request.n)]
        return AdmittedRequest((Started(0), *ends), _nothing(), request.unsupported)

    async def start(
        self, request: CheckedRequest, prompts: Sequence[Prompt], generate: Generate | None = None
    ) -> AdmittedRequest:
        """Returns when the engine has admitted the request; `generate` replaces the engine's own."""
        if generate is None:
            engine = request.served.engine
            fitting = partial(generate_fitting, engine, shorter=shorter_answer)
            generate = fitting if request.limited_by_context else engine.generate
        segments = self._segments(request, request.with_prompts(prompts), generate)
        started = await anext(segments)
        assert isinstance(started, Started)
        without_effect = (*request.unsupported, *request.unenforced(started), *request.hidden(started))
        return AdmittedRequest((started,), segments, tuple(dict.fromkeys(without_effect)))

    async def count(
        self, request: CheckedRequest, messages: Sequence[MessageDraft], generate: Generate | None = None
    ) -> int:
        """Returns the number of tokens of the prompt, which may exceed the model's context unless `generate` shortens
        it. Only the engine's pipeline counts images, and so it generates a token. Otherwise as `converse`.
        """
        if not any(message.images for message in messages):
            engine, texts = request.served.engine, request.conversation(draft.message for draft in messages)
            with request.refusals():
                if request.output or texts.tools:  # whose schemas a rendering doesn't check
                    await self._check(request, texts, may_exceed=True)
                tokens = len(await engine.render(texts, tokenized_characters(request.model)))
            if generate is None or tokens < request.model.context_length:
                return tokens
        generation = await self.converse(_prompt_only(request), messages, generate)
        async with aclosing(generation.segments):
            async for segment in generation.segments:
                if isinstance(segment, Usage):
                    return segment.prompt_tokens
        raise AssertionError("the answer has no usage")

    async def _check(self, request: CheckedRequest, unread: Conversation, *, may_exceed: bool) -> None:
        """Raises the engine's errors that don't depend on images, so that no image is fetched for an invalid request.
        With `may_exceed`, a conversation that is too long is accepted, since it may be shortened later; its schemas are
        then checked later, too.
        """
        try:
            await request.served.engine.check(request.with_prompts([unread]))
        except ContextLengthExceeded:
            if not may_exceed:
                raise

    async def _segments(
        self, request: CheckedRequest, engine_request: GenerationRequest, generate: Generate
    ) -> AsyncGenerator[Segment]:
        shows_reasoning = value_of(request.fields.body, "include_reasoning") is not False
        measured = Measured(engine_request, request.arrived, request.notes, request.served.observers)
        with measured.ending(), request.refusals():
            generated = generate(engine_request)
            if request.allowance:
                sequences = max(engine_request.n, engine_request.sampling.best_of) * len(engine_request.prompts)
                generated = request.allowance.metered(generated, sequences)
            async with aclosing(in_time(generated, self._limits.seconds)) as segments:
                async for segment in segments:
                    measured.feed(segment)
                    if shows_reasoning or not isinstance(segment, ReasoningDelta):
                        yield segment


def _prompt_only(request: CheckedRequest) -> CheckedRequest:
    """Returns the request for the prompt alone. The engine's pipeline has to generate a token all the same."""
    engine_request = request.engine_request
    settings = replace(engine_request.sampling, max_tokens=1, min_tokens=0, best_of=1)
    prompt = replace(engine_request, sampling=settings, n=1, constraint=None, must_call=False)
    return replace(request, engine_request=prompt, limited_by_context=False)


async def _nothing() -> AsyncGenerator[Segment]:
    yield Usage(0, 0)


async def _without_output(segments: AsyncGenerator[Segment]) -> AsyncGenerator[Segment]:
    async with aclosing(segments):
        async for segment in segments:
            if isinstance(segment, Usage):
                yield replace(segment, completion_tokens=0, reasoning_tokens=0)


def _truncation(body: Body) -> Truncation | None:
    """Returns the truncation of prompts that are too long, None if they aren't truncated."""
    tokens = value_of(body, _TRUNCATION)
    if tokens is None:
        return None
    return Truncation(None if tokens == _AS_MANY_AS_FIT else tokens, value_of(body, "truncation_side") or "left")


def in_time(items: AsyncGenerator[Item], seconds: float | None) -> AsyncGenerator[Item]:
    """Yields the items, and raises ApiError if they aren't complete within `seconds`; None is no limit.

    The time in which the receiver handles an item counts too: a client that reads slowly doesn't get more.
    """
    return items if seconds is None else _limited(items, seconds)


async def _limited(items: AsyncGenerator[Item], seconds: float) -> AsyncGenerator[Item]:
    deadline = asyncio.get_running_loop().time() + seconds
    async with aclosing(items):
        while True:
            try:
                # Around each item, not the whole loop: different tasks may request the items.
                async with asyncio.timeout_at(deadline):
                    item = await anext(items)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                message = f"The answer was not complete within this server's time limit of {seconds:g} s."
                raise ApiError(ErrorCode.GENERATION_TIMEOUT, message, retry_after=_RETRY_AFTER) from error
            yield item
