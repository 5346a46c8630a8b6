"""The engine for one OpenVINO model: an asyncio client of its preprocess and worker processes."""

import asyncio
import itertools
import logging
import os
import secrets
import time
from array import array
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import chain

from specvino.engine.admission import check_ids, numbered
from specvino.engine.chat_template.messages import missing
from specvino.engine.client import CLIENT
from specvino.engine.errors import (
    ContextLengthExceeded,
    EngineBusy,
    EngineError,
    EngineRestarted,
    EngineUnavailable,
    ModelLoadError,
)
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.admission import Admission, AdmittedPrompt
from specvino.engine.openvino.closed_reasoning import BudgetedChoice
from specvino.engine.openvino.constraints import ResolvedConstraint
from specvino.engine.openvino.grammar_client import GrammarClient
from specvino.engine.openvino.image_client import ImageClient
from specvino.engine.openvino.image_transfer import sent_images
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.preprocess import TOKEN_ID_BYTES, Vocabulary
from specvino.engine.openvino.messages.worker import (
    Cancel,
    Generate,
    Loaded,
    LoadModel,
    Output,
    Step,
)
from specvino.engine.openvino.output_queue import OutputQueue
from specvino.engine.openvino.preprocess_client import PreprocessClient
from specvino.engine.openvino.request_times import RequestTimes
from specvino.engine.openvino.running_choice import RunningChoice
from specvino.engine.openvino.shown_prompt import ShownPrompt
from specvino.engine.openvino.workers import FULL_LOGITS, Workers
from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output.choice_text import ChoiceText
from specvino.engine.output.detokenizer import DetokenizerFactory, byte_table_factory
from specvino.engine.output.echoed_prompt import EchoedPrompt
from specvino.engine.output.tokens import TokenNames, pad_truncate
from specvino.engine.output_parsers.selection import SelectedParsers, select_parsers
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.protocol import EngineStats, ModelInfo, PaddingSide, State
from specvino.engine.request import Conversation, GenerationRequest, ReadImage
from specvino.engine.segments import Finish, Segment, Started, Usage

# Seconds after which a client may try again where too many requests wait.
_RETRY_AFTER = 5

# A silent worker that computes may take so many times the stall timeout in CPU time, on each core.
_SILENT_WORK = 10

# Choices that are made at a time: others get in between.
_CHOICES = 32

log = logging.getLogger(__name__)

_DEFAULT_OPTIONS = PipelineOptions()

# A worker that owes tokens isn't called ready after this part of the time after which it is started anew.
_SILENT = 0.25


class OpenVINOEngine:
    """Implements `protocol.Engine`.

    At most `max_sequences` are generated at a time, the others wait; when `max_queue` requests more than that are
    there, further ones are refused. `cache_size` (GB) bounds the memory of running sequences; 0 lets it grow.
    `options` say how the pipeline computes.
    A worker that owes tokens and neither answers nor computes for `stall_timeout` seconds is started anew, and so is a
    preprocess or image process that needs more than `preprocess_deadline` seconds for a conversation or an image; a
    constraint of which nothing is known after `grammar_deadline` seconds makes the server unavailable to that request,
    and one that takes `grammar_computing` seconds of CPU time is refused.
    Speculative decoding takes its drafts from a `draft_model`, or looks them up in the prompt. `tool_parser` and
    `reasoning_parser` name formats or are `none`; without them they are what the chat template shows.
    `chat_template` is a template in place of the model's own.
    """

    def __init__(
        self,
        source: ModelSource,
        *,
        max_sequences: int = 64,
        max_queue: int = 1000,
        cache_size: int = 0,
        options: PipelineOptions = _DEFAULT_OPTIONS,
        stall_timeout: float = 60.0,
        preprocess_deadline: float = 60.0,
        grammar_deadline: float = 60.0,
        grammar_computing: float = 5.0,
        draft_model: ModelSource | None = None,
        prompt_lookup: bool = False,
        tool_parser: str | None = None,
        reasoning_parser: str | None = None,
        chat_template: str | None = None,
    ) -> None:
        self.generated_tokens = 0
        self._source = source
        self._model: ModelInfo | None = None
        self._detokenizer: DetokenizerFactory  # set by start()
        self._names: TokenNames  # set by start()
        self._parsers = (tool_parser, reasoning_parser)
        self._ids = itertools.count()
        self._queues: dict[int, OutputQueue] = {}  # by sequence; the choices of a request share one
        self._heard_at = 0.0  # by the monotonic clock: when a worker, if one owes something, last gave any of it
        self._steps: dict[str, Step] = {}  # the last one of each worker
        self._unfinished = 0  # requests
        self._most_unfinished = max_sequences + max_queue
        self._accepted_drafts = 0
        self._preprocess = PreprocessClient(source, preprocess_deadline, chat_template)
        self._images = ImageClient(preprocess_deadline)
        self._grammars = GrammarClient(str(source.path), grammar_deadline, grammar_computing)
        self._admission = Admission(source, self._preprocess, self._grammars)
        self._load = LoadModel(
            str(source.path),
            max_sequences,
            draft_path=str(draft_model.path) if draft_model else None,
            prompt_lookup=prompt_lookup,
            cache_size=cache_size,
            options=options,
        )
        self._stall_timeout = stall_timeout
        self._workers = Workers(self._load, self._supervisor)

    @property
    def model(self) -> ModelInfo:
        if self._model is None:
            self._workers.worker.check_ready()
            raise EngineUnavailable("The model is loading.", retry_after=1)
        return self._model

    @property
    def cache_usage(self) -> float:
        """Returns how much of a worker's memory for running sequences is in use, in percent."""
        return max((step.cache_usage for step in self._steps.values()), default=0.0)

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the child processes, None for one that is being restarted, or was not needed yet."""
        return {
            **self._workers.pids,
            "preprocess": self._preprocess.process.pid,
            "template": self._preprocess.template_pid,
            "image": self._images.pid,
            **self._grammars.pids,
        }

    async def start(self) -> None:
        try:
            starts = (self._workers.worker.start(), self._preprocess.process.start(), self._grammars.start())
            results = await asyncio.gather(*starts, return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
            self._detokenizer = await self._choose_detokenizer()
            vocabulary = self._preprocess.vocabulary
            self._names = TokenNames(vocabulary.table, vocabulary.special)
            self._admission.parsers = self._select_parsers()
            self._log_template(vocabulary)
        except ModelLoadError as error:
            await self.close()
            raise ModelLoadError(f"{self._source.path}: {error}") from error
        except BaseException:
            await self.close()
            raise
        self._model = ModelInfo(
            self._admission.context_length,
            vocabulary.size,
            self._source.defaults,
            self._load.drafting,
            self._source.vision,
            self._admission.parsers.calling,
            vocabulary.capabilities.thinking if vocabulary.capabilities else frozenset(),
            # A prompt with images is a text, which nothing can be put behind as tokens.
            self._admission.parsers.closing() is not None and not self._source.vision,
            full_logits=not self._source.vision,
            template_lacks=_lacking(self._preprocess.vocabulary),
        )

    async def check(self, request: GenerationRequest) -> None:
        self._check_ready()
        self._check_room()
        await self._admission.admit(request)

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        self._check_ready()
        self._check_room()
        self._unfinished += 1
        try:
            prompts, resolved = await self._admission.admit(request)
            self._check_ready()  # a process may have died meanwhile
            prompt_tokens = sum(len(prompt.token_ids) for prompt in prompts) // TOKEN_ID_BYTES
            with_images = any(prompt.prompt_images is not None for prompt in prompts)
            async with (
                self._workers.use(request, prompts, resolved) as (worker, fitted),
                self._sent(worker, request, fitted, resolved) as (queue, choices, times),
            ):
                # Whether a prompt with images fits, only the worker can tell.
                outputs = await queue.take() if with_images else []
                if any(output.too_long for output in outputs):
                    raise ContextLengthExceeded(None, request.sampling.max_tokens or 1, self._admission.context_length)
                prompt_ids = tuple(prompt.ids() for prompt in prompts) if request.token_ids else ()
                hidden = tuple(dict.fromkeys(each for prompt in prompts for each in prompt.hidden))
                unenforced, of_arguments = resolved[0].unenforced, resolved[0].unenforced_arguments
                yield Started(prompt_tokens, unenforced, of_arguments, prompt_ids, hidden)
                if request.thinking_budget is not None:  # there may be none for what a prompt has begun
                    outputs = [Output(id, []) for id, choice in choices.items() if choice.output.overspent]
                count = None
                completion_tokens = reasoning_tokens = 0
                while choices or (with_images and count is None):
                    outputs = outputs or await queue.take()
                    times.push(outputs)
                    for output in outputs:
                        count = output.prompt_tokens or count
                        choice = choices.get(output.id)
                        if choice is None:
                            continue  # tokens made after a stop string
                        if output.error is not None:
                            raise EngineError(output.error)
                        for segment in chain(choice.push(output), self._closed(output, choice, choices, queue)):
                            if isinstance(segment, Finish):
                                choices.pop(output.id, None)
                                self._forget(output.id, finished=output.finish is not None, listen=with_images)
                                completion_tokens += choice.output.tokens
                                reasoning_tokens += choice.output.reasoning_tokens
                            yield segment
                    outputs = []
                # The texts of a search come whole, at its end: nobody sees when the first token was there.
                phases = times.phases if request.sampling.best_of == 1 else None
                yield Usage(count or prompt_tokens, completion_tokens, reasoning_tokens, phases)
        finally:
            self._unfinished -= 1

    @asynccontextmanager
    async def _sent(
        self,
        worker: Supervisor,
        request: GenerationRequest,
        prompts: Sequence[AdmittedPrompt],
        resolved: Sequence[ResolvedConstraint],
    ) -> AsyncIterator[tuple[OutputQueue, dict[int, RunningChoice], RequestTimes]]:
        """Sends a request, and gives the queue of what comes of it, its choices by their ids, and its times. Those of
        the choices that are there at the end are cancelled."""
        queue = OutputQueue(worker)
        times = RequestTimes()
        prompt_images = [prompt.prompt_images for prompt in prompts if prompt.prompt_images is not None]
        choices: dict[int, RunningChoice] = {}
        ids: list[int] = []
        try:
            async with sent_images(worker, prompt_images):
                await self._send(request, list(zip(prompts, resolved, strict=True)), queue, choices, ids)
            yield queue, choices, times
        finally:
            for id in {*ids, *choices}:
                self._forget(id, finished=id not in choices)

    async def tokenize(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool,
        parse_special: bool = True,
        max_length: int | None = None,
        pad: PaddingSide | None = None,
    ) -> list[list[int]]:
        asked = partial(self._preprocess.tokenize, add_special_tokens=add_special_tokens, parse_special=parse_special)
        tokenized = []
        for index, text in enumerate(texts):
            with numbered("Text", index, len(texts)):
                token_ids = await asked(text)
            ids = array("q", token_ids).tolist()
            tokenized.append(pad_truncate(ids, max_length, pad, self._preprocess.vocabulary.pad_id))
        return tokenized

    async def render(self, conversation: Conversation, most_characters: int) -> list[int]:
        return array("q", await self._preprocess.render(conversation, most_characters)).tolist()

    async def detokenize(self, token_ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        check_ids(token_ids, self._preprocess.vocabulary.size)
        ids = array("q", token_ids).tobytes()
        return await self._preprocess.detokenize(ids, skip_special_tokens=skip_special_tokens)

    async def token_bytes(self, token_ids: Sequence[int]) -> list[bytes]:
        check_ids(token_ids, self._preprocess.vocabulary.size)
        return await self._preprocess.token_bytes(array("q", token_ids).tobytes())

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        self._check_ready()
        return await self._images.decode(file, longest_side, most_pixels)

    def stats(self) -> EngineStats:
        return EngineStats(
            self._state(),
            sum(step.running for step in self._steps.values()),
            sum(step.waiting for step in self._steps.values()),
            self._workers.worker.restarts + self._preprocess.process.restarts + self._grammars.restarts,
            self.cache_usage / 100,
            self._admission.cache_tokens,
            self._accepted_drafts if self._load.drafting else None,
        )

    async def close(self) -> None:
        self._fail(EngineUnavailable("The server is shutting down.", retry_after=1))
        await asyncio.gather(
            self._workers.close(),
            self._preprocess.close(),
            self._images.close(),
            self._grammars.close(),
        )
        self._steps.clear()

    def _check_ready(self) -> None:
        self._workers.worker.check_ready()
        self._preprocess.process.check_ready()

    def _check_room(self) -> None:
        if self._unfinished >= self._most_unfinished:
            raise EngineBusy("The server is busy: too many requests are waiting.", retry_after=_RETRY_AFTER)

    def _state(self) -> State:
        states = {self._workers.worker.state, self._preprocess.process.state}
        if self._grammars.failing:
            states.add("restarting")
        worst: tuple[State, ...] = ("closed", "loading", "restarting")
        return next((state for state in worst if state in states), self._ready() if self._model else "loading")

    def _ready(self) -> State:
        silent = self._queues and time.monotonic() - self._heard_at > self._stall_timeout * _SILENT
        return "stalled" if silent else "ready"

    async def _send(
        self,
        request: GenerationRequest,
        prompts: Sequence[tuple[AdmittedPrompt, ResolvedConstraint]],
        queue: OutputQueue,
        choices: dict[int, RunningChoice],
        ids: list[int],
    ) -> None:
        """Sends a message for each prompt: sequences for its choices, or one search. Notes the choices by their ids."""
        if not self._queues:
            self._heard_at = time.monotonic()
        sampling = request.sampling
        first = next(self._ids)
        for _ in range(len(prompts) * request.n - 1):
            next(self._ids)
        for prompt, constraint in prompts:
            seed = secrets.randbits(31) if sampling.seed is None else sampling.seed
            search = sampling.best_of > 1 and prompt.max_new_tokens > 0
            id = first + len(ids)
            shown = self._shown_prompt(request, prompt)
            for _ in range(request.n):
                index = len(ids)
                if index % _CHOICES == _CHOICES - 1:
                    await asyncio.sleep(0)
                ids.append(first + index)
                choices[first + index] = self._choice(index, request, prompt, shown)
                self._queues[first + index] = queue
            asked = Generate(
                id=id,
                request=first,
                token_ids=prompt.token_ids,
                sampling=sampling,
                max_new_tokens=prompt.max_new_tokens,
                seed=seed,
                n=request.n,
                copies=1 if search else request.n,
                logprobs=request.logprobs,
                top_logprobs=request.top_logprobs,
                logprob_token_ids=request.logprob_token_ids,
                prompt_logprobs=request.prompt_logprobs,
                bad_word_runs=prompt.bad_word_runs,
                # A prompt without an answer can only be given back.
                echo=request.echoes_logprobs or not prompt.max_new_tokens,
                vision_prompt=prompt.vision_prompt,
                lowered=constraint.lowered,
                owner=request.owner,
                client=CLIENT.get(),
                priority=request.priority,
            )
            if prompt.closing:
                for each in asked.each():
                    choices[each.id].budgeted = BudgetedChoice(each, prompt.closing, constraint.behind_reasoning)
            queue.worker.send(asked)

    def _closed(
        self, output: Output, choice: RunningChoice, choices: dict[int, RunningChoice], queue: OutputQueue
    ) -> Iterator[Segment]:
        """Ends the reasoning of a choice, if that is overspent, and has it go on under another id. Yields segments."""
        if not choice.output.overspent:
            return
        assert choice.budgeted is not None
        del choices[output.id]
        self._forget(output.id, finished=output.finish is not None)
        id = next(self._ids)
        asked = choice.budgeted.close(id, choice.output.tokens)
        if asked is None:
            yield from choice.output.push([], None, "length")
            return
        closing = choice.budgeted.closing
        choices[id] = choice
        self._queues[id] = queue
        for segment in choice.output.close_reasoning(closing, [0.0] * len(closing) if asked.logprobs else None):
            if isinstance(segment, Finish):  # a stop string is in what closes it
                del choices[id], self._queues[id]
            yield segment
        if id in choices:
            queue.worker.send(asked)

    def _choice(
        self, index: int, request: GenerationRequest, prompt: AdmittedPrompt, shown: ShownPrompt | None
    ) -> RunningChoice:
        parser = None
        continued = not isinstance(prompt.prompt, Conversation) or prompt.prompt.continue_final_message
        if isinstance(prompt.prompt, Conversation):
            parser = self._admission.parsers.parser(prompt.prompt, thinking=prompt.thinking)
        special = not request.sampling.skip_special_tokens
        parsed = self._admission.parsers.special_tokens if parser is not None else frozenset[str]()
        detokenizer = self._detokenizer(special=special, each=request.logprobs, shown=parsed, continued=continued)
        text = ChoiceText(detokenizer, request.sampling, logprobs=request.logprobs)
        output = ChoiceOutput(
            index,
            text,
            parser,
            must_call=request.must_call,
            parallel_calls=request.parallel_calls,
            thinking_budget=request.thinking_budget.tokens if request.thinking_budget else None,
            thinking=prompt.thinking,
        )
        return RunningChoice(output, self._names, shown, token_ids=request.token_ids)

    def _shown_prompt(self, request: GenerationRequest, prompt: AdmittedPrompt) -> ShownPrompt | None:
        if not request.echo and request.prompt_logprobs is None:
            return None
        ids = array("q", prompt.token_ids).tolist()
        echoed = None
        if request.echo:
            special = not request.sampling.skip_special_tokens
            echoed = EchoedPrompt(prompt.prompt, ids, self._detokenizer, special=special)
        return ShownPrompt(ids, self._names, request, echoed)

    def _select_parsers(self) -> SelectedParsers:
        try:
            vocabulary = self._preprocess.vocabulary
            return select_parsers(vocabulary.formats, *self._parsers, vocabulary.special.values())
        except ValueError as error:
            raise ModelLoadError(str(error)) from None

    def _log_template(self, vocabulary: Vocabulary) -> None:
        """Says what conversations will do without."""
        if vocabulary.refusal:
            log.warning("%s: its chat template can't be used: %s", self._source.path, vocabulary.refusal)
        for lack in _lacking(vocabulary):
            log.info("%s: its chat template: %s", self._source.path, lack)

    def _forget(self, id: int, *, finished: bool, listen: bool = False) -> None:
        """Cancels the sequence unless it is finished, or was lost with its worker; `listen` hears it out."""
        queue = self._queues.get(id) if listen else self._queues.pop(id, None)
        if queue and not finished:
            queue.worker.send(Cancel(id))

    def _supervisor(self, name: str, module: str, load: LoadModel) -> Supervisor:
        supervisor = Supervisor(
            name,
            module,
            load,
            incoming=Loaded | Step,
            on_message=partial(self._receive, name),
            on_lost=lambda reason, _: self._lost(name, supervisor, reason),
            busy=lambda: any(queue.worker is supervisor for queue in self._queues.values()),
            stall_timeout=self._stall_timeout,
            silent_work=_SILENT_WORK * self._stall_timeout * (os.cpu_count() or 1),
        )
        return supervisor

    def _receive(self, worker: str, step: Loaded | Step) -> None:
        if isinstance(step, Loaded):
            bound = self._workers.bound_full_logits if worker == FULL_LOGITS else self._admission.bound
            bound(step.cache_tokens)
            return
        self._heard_at = time.monotonic()
        self._steps[worker] = step
        self._accepted_drafts += step.accepted_drafts
        for output in step.outputs:
            self.generated_tokens += len(output.token_ids)
            if queue := self._queues.get(output.id):
                queue.put(output)

    def _lost(self, name: str, worker: Supervisor, reason: str) -> None:
        self._steps.pop(name, None)
        self._fail(EngineRestarted(f"The request was lost: {reason}."), worker)

    def _fail(self, error: EngineError, worker: Supervisor | None = None) -> None:
        """Ends the requests that a worker has, or all."""
        lost = [id for id, queue in self._queues.items() if worker is None or queue.worker is worker]
        for id in lost:
            self._queues.pop(id).fail(error)

    async def _choose_detokenizer(self) -> DetokenizerFactory:
        vocabulary = self._preprocess.vocabulary
        if vocabulary.table is not None:
            return byte_table_factory(vocabulary.table, vocabulary.special, drops_space=vocabulary.drops_space)
        from specvino.engine.openvino import text_streamer  # only here: it brings OpenVINO into this process

        return await asyncio.to_thread(text_streamer.load, self._source.path, vocabulary.special)


def _lacking(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Returns what the chat template doesn't support, each with what is done instead."""
    return missing(vocabulary.capabilities) if vocabulary.capabilities else ()
