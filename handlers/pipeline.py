"""The way of a request to the engine: the same steps in the same order for chat, completions and responses.

1. `Pipeline.check`: what can be judged at once. Penalties in a beam search, the served model, limits and sampling,
   tools, structured output, chat template.
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

from specvino.engine.errors import ContextLengthExceeded
from specvino.engine.protocol import Engine, ModelInfo
from specvino.engine.request import Conversation, GenerationRequest, Image, Message, Prompt, Sampling
from specvino.engine.segments import Segment, Started
from specvino.generated.handlers import RequestContext
from specvino.handlers.deadline import in_time
from specvino.handlers.errors import engine_errors
from specvino.handlers.limits import Limits, require_no_penalty_in_search
from specvino.handlers.measuring import Measured, Observer
from specvino.handlers.media import Media, MessageDraft, fetches
from specvino.handlers.models import ServedModel
from specvino.handlers.sampling import Body, sampling
from specvino.handlers.structured_outputs import FormatFields, StructuredOutput, refusals, structured_output
from specvino.handlers.template import TemplateFields, TemplateVariables, template_variables
from specvino.handlers.tools import ToolCalling, ToolFields, tool_calling
from specvino.handlers.unsupported import reported

Event = TypeVar("Event")
# Stands for an image that is not fetched yet.
_UNREAD = Image(1, 1, bytes(3))

Generate = Callable[[GenerationRequest], AsyncGenerator[Segment]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFields:
    """A body as the pipeline reads it: settings have one name on all endpoints, these differ or are missing on some.

    `prompt_param` names the field that holds the prompt, for errors.
    """

    body: Body
    prompt_param: str
    max_tokens: int | None
    n: int = 1
    echo: bool = False
    logprobs: bool = False
    tools: ToolFields = field(default_factory=ToolFields)
    format: FormatFields = field(default_factory=FormatFields)
    template: TemplateFields = field(default_factory=TemplateFields)


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request of which all is known but its prompts; `unsupported` are its fields without effect.

    `notes` are those of its exchange, and `arrived` is when it came, by the clock that measures.
    """

    fields: RequestFields
    model: ModelInfo
    sampling: Sampling
    tools: ToolCalling
    output: StructuredOutput | None
    template: TemplateVariables
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
            logprobs=self.fields.logprobs,
            constraint=self.output.constraint if self.output else None,
            must_call=self.tools.forced_by is not None,
            parallel_calls=self.tools.parallel,
            owner=self.owner,
        )

    def conversation(self, messages: Iterable[Message]) -> Conversation:
        """Returns the messages with what the chat template gets beside them."""
        return Conversation(tuple(messages), self.tools.tools, self.template.json)

    def unenforced(self, started: Started) -> Iterator[str]:
        """Yields the fields whose schemas the answer won't be constrained by."""
        if self.output is not None:
            yield from self.output.unenforced(started)
        yield from self.tools.unenforced(started)

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
    """The steps that all endpoints share, on one engine. Each of its methods raises ApiError.

    `observers` are told how each generation goes on.
    """

    def __init__(
        self, engine: Engine, served: ServedModel, limits: Limits, media: Media, observers: Sequence[Observer] = ()
    ) -> None:
        self._engine = engine
        self._served = served
        self._limits = limits
        self._media = media
        self._observers = observers

    def check(self, context: RequestContext, fields: RequestFields) -> CheckedRequest:
        """Returns the request with its settings resolved; it needs no prompt, and waits for nothing."""
        arrived = perf_counter()
        strict = context.refuses_unsupported
        require_no_penalty_in_search(fields.body)
        self._served.require(fields.body.model)
        with engine_errors(fields.prompt_param):
            model = self._engine.model
        self._limits.require(fields.body, model.drafting)
        settings = sampling(fields.body, fields.max_tokens, model.defaults)
        tools = tool_calling(fields.tools, settings, model.calling, strict=strict)
        output = structured_output(fields.format, settings, strict=strict)
        template = template_variables(fields.template, model)
        unsupported = reported(context, (*tools.unsupported, *template.unsupported))
        return CheckedRequest(
            fields, model, settings, tools, output, template, unsupported, context.owner, context.notes, arrived
        )

    async def converse(
        self, request: CheckedRequest, messages: Sequence[MessageDraft], generate: Generate | None = None
    ) -> Generation:
        """Reads the messages' images and starts to continue the conversation; `generate` as in `start`."""
        with request.refusals():
            if fetches(messages):
                unread = tuple(each.with_images([_UNREAD] * len(each.images)) for each in messages)
                await self._check(request.with_prompts([request.conversation(unread)]), shortens=generate is not None)
            read = await self._media.read(messages)
        return await self.start(request, [request.conversation(read)], generate)

    async def start(
        self, request: CheckedRequest, prompts: Sequence[Prompt], generate: Generate | None = None
    ) -> Generation:
        """Returns when the engine has admitted the request; `generate` is called in place of the engine's own."""
        segments = self._segments(request, request.with_prompts(prompts), generate or self._engine.generate)
        started = await anext(segments)
        assert isinstance(started, Started)
        return Generation((started,), segments, (*request.unsupported, *request.unenforced(started)))

    async def _check(self, asked: GenerationRequest, *, shortens: bool) -> None:
        """Raises what the engine has against a request whatever its images show, so that none is fetched for it.

        With `shortens` a conversation that is too long is refused later, if it can't be shortened, and so are the
        schemas of such a one.
        """
        try:
            await self._engine.check(asked)
        except ContextLengthExceeded:
            if not shortens:
                raise

    async def _segments(
        self, request: CheckedRequest, asked: GenerationRequest, generate: Generate
    ) -> AsyncGenerator[Segment]:
        measured = Measured(asked, request.arrived, request.notes, self._observers)
        with measured.ending(), request.refusals():
            async with aclosing(in_time(generate(asked), self._limits.seconds)) as segments:
                async for segment in segments:
                    measured.feed(segment)
                    yield segment
