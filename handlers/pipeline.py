"""The way of a request to the engine: the same steps in the same order for chat, completions and responses.

1. `Pipeline.check`: what needs no prompt. Conditions between fields, the served model, conditions of this server (both
   from openapi/conditions.yaml), sampling, tools, structured output, chat template.
2. The endpoint makes prompts of its body. Responses read their store for that.
3. `Pipeline.start` or `Pipeline.converse`: images are read, from other servers too, and the engine admits the request.

So a mistake gets the same error wherever it is made, whatever else is wrong, and nothing is fetched for a request that
is refused anyhow. An endpoint says in `RequestFields` where its body has what the pipeline reads; what it makes of
the engine's segments is its own.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, TypeVar

from specvino.document.loading import group
from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import ModelInfo
from specvino.engine.request import (
    Conversation,
    GenerationRequest,
    Image,
    Message,
    Prompt,
    Sampling,
    ThinkingBudget,
    Truncation,
)
from specvino.engine.segments import ReasoningDelta, Segment, Started
from specvino.generated.handlers import RequestContext
from specvino.handlers.deadline import in_time
from specvino.handlers.errors import engine_errors, reported
from specvino.handlers.full_logits import LogprobFields, without_full_logits
from specvino.handlers.limits import Limits, lookup, require_consistent, require_supported
from specvino.handlers.measuring import Measured
from specvino.handlers.media import Media, MessageDraft, fetches
from specvino.handlers.models import ServedModel, ServedModels
from specvino.handlers.or_none import or_none
from specvino.handlers.sampling import Body, sampling
from specvino.handlers.structured_outputs import FormatFields, StructuredOutput, refusals, structured_output
from specvino.handlers.template import TemplateFields, TemplateVariables, template_variables
from specvino.handlers.thinking_budget import BudgetFields, budget_unsupported, thinking_budget
from specvino.handlers.tools import ToolCalling, ToolFields, tool_calling

Event = TypeVar("Event")
# Stands for an image that is not fetched yet.
_UNREAD = Image(1, 1, bytes(3))

Generate = Callable[[GenerationRequest], AsyncGenerator[Segment]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFields:
    """A body as the pipeline reads it: settings have one name on all endpoints, these differ or are missing on some.

    `prompt_param` names the field that holds the prompt, for errors. `of_tokens` are the given fields that say which
    tokens a prompt has: those of a vision-language model are made by its pipeline.
    """

    body: Body
    prompt_param: str
    max_tokens: int | None
    n: int = 1
    echo: bool = False
    logprobs: LogprobFields = field(default_factory=LogprobFields)
    include_reasoning: bool = True
    token_ids: bool = False
    truncation: Truncation | None = None
    of_tokens: tuple[str, ...] = ()
    tools: ToolFields = field(default_factory=ToolFields)
    format: FormatFields = field(default_factory=FormatFields)
    template: TemplateFields = field(default_factory=TemplateFields)
    budget: BudgetFields = field(default_factory=BudgetFields)


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request of which all is known but its prompts. `served` is who answers it, and `model` what that says of
    itself; `unsupported` are its fields without effect.

    `notes` are those of its exchange, and `arrived` is when it came, by the clock that measures.
    """

    fields: RequestFields
    served: ServedModel
    model: ModelInfo
    sampling: Sampling
    tools: ToolCalling
    output: StructuredOutput | None
    template: TemplateVariables
    budget: ThinkingBudget | None
    logprobs: LogprobFields
    unsupported: tuple[str, ...]
    owner: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    arrived: float = field(default_factory=perf_counter)

    def with_prompts(self, prompts: Sequence[Prompt]) -> GenerationRequest:
        """Returns what the engine is asked."""
        return GenerationRequest(
            prompts=tuple(prompts),
            sampling=self.sampling,
            n=self.fields.n,
            echo=self.fields.echo,
            logprobs=self.logprobs.wanted,
            top_logprobs=self.logprobs.top,
            logprob_token_ids=self.logprobs.token_ids,
            prompt_logprobs=self.logprobs.of_prompt,
            token_ids=self.fields.token_ids,
            truncation=self.fields.truncation,
            constraint=self.output.constraint if self.output else None,
            must_call=self.tools.forced_by is not None,
            parallel_calls=self.tools.parallel,
            owner=self.owner,
            priority=or_none(self.fields.body.priority) or 0,
            thinking_budget=self.budget,
        )

    def conversation(self, messages: Iterable[Message]) -> Conversation:
        """Returns the messages with what the chat template gets beside them."""
        told, turns = self.fields.template, tuple(messages)
        return Conversation(
            turns,
            self.tools.tools,
            self.template.json,
            told.chat_template,
            told.add_special_tokens,
            told.continue_final_message,
            turns[0].content if told.disable_chat_template and not told.token_ids else told.token_ids,
        )

    def unenforced(self, started: Started) -> Iterator[str]:
        """Yields the fields whose schemas the answer won't be constrained by."""
        if self.output is not None:
            yield from self.output.unenforced(started)
        yield from self.tools.unenforced(started)

    def hidden(self, started: Started) -> Iterator[str]:
        """Yields the fields that the model's chat template doesn't show. Tools have an effect where one must be
        called."""
        for each in started.hidden:
            if each in self.fields.template.hidden and not (each == "tools" and self.tools.forced_by):
                yield self.fields.template.hidden[each]

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Makes ApiErrors, which name this request's fields, of the engine's errors."""
        with engine_errors(self.fields.prompt_param), refusals(self.output), self.tools.refusals():
            yield


@dataclass(frozen=True, slots=True)
class Generation:
    """An admitted request: the engine's segments, those that are there apart. `unsupported` are the fields without
    effect."""

    arrived: tuple[Segment, ...]
    segments: AsyncGenerator[Segment]
    unsupported: tuple[str, ...]

    async def begun(self) -> "Generation":
        """Waits for the first segment of the answer, and returns the generation with it."""
        return replace(self, arrived=(*self.arrived, await anext(self.segments)))

    async def events(self, feed: Callable[[Segment], Iterable[Event]]) -> AsyncGenerator[Event]:
        """Yields what `feed` makes of each segment."""
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

    def check(self, context: RequestContext, fields: RequestFields) -> CheckedRequest:
        """Returns the request with its settings resolved; it needs no prompt, and waits for nothing."""
        arrived = perf_counter()
        strict = context.refuses_unsupported
        require_consistent(fields.body)
        served = self._served.require(fields.body.model)
        context.notes["model"] = served.names[0]
        with engine_errors(fields.prompt_param):
            model = served.engine.model
        require_supported(fields.body, self._limits.facts_with(model))
        settings = sampling(fields.body, fields.max_tokens, model.defaults)
        constrainable = not any(group("unconstrained").matches(lookup(fields.body)))
        tools = tool_calling(fields.tools, model.calling, strict=strict, constrainable=constrainable)
        output = structured_output(fields.format, strict=strict)
        template = template_variables(fields.template, model)
        budget = thinking_budget(fields.budget, model)
        of_tokens = fields.of_tokens if model.vision else ()
        logprobs, settings, of_full_logits = without_full_logits(fields.logprobs, settings, model, tools, output)
        without_effect = (
            *tools.unsupported,
            *template.unsupported,
            *budget_unsupported(fields.budget, model),
            *of_tokens,
            *of_full_logits,
        )
        unsupported = reported(context, without_effect)
        return CheckedRequest(
            fields,
            served,
            model,
            settings,
            tools,
            output,
            template,
            budget,
            logprobs,
            unsupported,
            context.owner,
            context.notes,
            arrived,
        )

    async def converse(
        self, request: CheckedRequest, messages: Sequence[MessageDraft], generate: Generate | None = None
    ) -> Generation:
        """Reads the messages' images and starts to continue the conversation; `generate` as in `start`."""
        with request.refusals():
            if fetches(messages):
                unread = tuple(each.with_images([_UNREAD] * len(each.images)) for each in messages)
                await self._check(request, request.conversation(unread), shortens=generate is not None)
            read = await self._media.read(messages, request.served.engine)
        return await self.start(request, [request.conversation(read)], generate)

    async def start(
        self, request: CheckedRequest, prompts: Sequence[Prompt], generate: Generate | None = None
    ) -> Generation:
        """Returns when the engine has admitted the request; `generate` is called in place of the engine's own."""
        segments = self._segments(request, request.with_prompts(prompts), generate or request.served.engine.generate)
        started = await anext(segments)
        assert isinstance(started, Started)
        without_effect = (*request.unsupported, *request.unenforced(started), *request.hidden(started))
        return Generation((started,), segments, tuple(dict.fromkeys(without_effect)))

    async def _check(self, request: CheckedRequest, unread: Conversation, *, shortens: bool) -> None:
        """Raises what the engine has against a request whatever its images show, so that none is fetched for it.

        With `shortens` a conversation that is too long is refused later, if it can't be shortened, and so are the
        schemas of such a one.
        """
        try:
            await request.served.engine.check(request.with_prompts([unread]))
        except ContextLengthExceeded:
            if not shortens:
                raise

    async def _segments(
        self, request: CheckedRequest, asked: GenerationRequest, generate: Generate
    ) -> AsyncGenerator[Segment]:
        measured = Measured(asked, request.arrived, request.notes, request.served.observers)
        with measured.ending(), request.refusals():
            async with aclosing(in_time(generate(asked), self._limits.seconds)) as segments:
                async for segment in segments:
                    measured.feed(segment)
                    if request.fields.include_reasoning or not isinstance(segment, ReasoningDelta):
                        yield segment
