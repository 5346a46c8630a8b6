"""The engine for one OpenVINO model: an asyncio client of its preprocess and worker processes."""

import asyncio
import itertools
import secrets
import time
from array import array
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from specvino.engine.admission import numbered, room
from specvino.engine.errors import (
    ContextLengthExceeded,
    EngineError,
    EngineRestarted,
    EngineUnavailable,
    ModelLoadError,
    PromptError,
)
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.constraints import ResolvedConstraint, resolve_constraint
from specvino.engine.openvino.grammar_client import GrammarClient
from specvino.engine.openvino.image_client import ImageClient
from specvino.engine.openvino.image_transfer import PromptImages, images_in, sent_images
from specvino.engine.openvino.messages.preprocess import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import Cancel, Generate, LoadModel, Step, VisionPrompt
from specvino.engine.openvino.output_queue import OutputQueue
from specvino.engine.openvino.preprocess_client import PreprocessClient
from specvino.engine.openvino.running_choice import RunningChoice
from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output_parsers.selection import SelectedParsers, select_parsers, thinking_variables
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.protocol import EngineStats, ModelInfo, PaddingSide, State
from specvino.engine.request import Conversation, GenerationRequest, Prompt, ReadImage
from specvino.engine.segments import Finish, Segment, Started, Usage
from specvino.engine.text import byte_table
from specvino.engine.text.choice_text import ChoiceText
from specvino.engine.text.detokenizer import DetokenizerFactory
from specvino.engine.text.echoed_prompt import EchoedPrompt
from specvino.engine.text.pad_truncate import pad_truncate

# A worker that owes tokens isn't called ready after this part of the time after which it is started anew.
_SILENT = 0.25


class _Admitted(NamedTuple):
    """Holds a prompt that fits, and how many tokens may follow it in each of its choices.

    With `prompt_images` its tokens are more than `token_ids`, and only the worker can tell whether it fits. `thinking`
    says that it has begun the reasoning.
    """

    prompt: Prompt
    token_ids: bytes
    max_new_tokens: int
    vision_prompt: VisionPrompt | None
    prompt_images: PromptImages | None
    thinking: bool


class OpenVINOEngine:
    """Implements `protocol.Engine`.

    At most `max_sequences` are generated at a time, the others wait. A worker that owes tokens and is silent for
    `stall_timeout` seconds is started anew, and so is a preprocess or image process that needs more than
    `preprocess_deadline` seconds for a conversation or an image; a constraint of which nothing is known after
    `grammar_deadline` seconds makes the server unavailable to that request, and one that takes `grammar_computing`
    seconds of CPU time is refused.
    Speculative decoding takes its drafts from a `draft_model`, or looks them up in the prompt. `tool_parser` and
    `reasoning_parser` name formats or are `none`; without them they are what the chat template shows.
    """

    def __init__(
        self,
        source: ModelSource,
        *,
        max_sequences: int = 64,
        stall_timeout: float = 60.0,
        preprocess_deadline: float = 60.0,
        grammar_deadline: float = 60.0,
        grammar_computing: float = 5.0,
        draft_model: ModelSource | None = None,
        prompt_lookup: bool = False,
        tool_parser: str | None = None,
        reasoning_parser: str | None = None,
    ) -> None:
        self.generated_tokens = 0
        self.cache_usage = 0.0  # of the worker's memory for running sequences, in percent
        self._source = source
        self._model: ModelInfo | None = None
        self._detokenizer: DetokenizerFactory  # set by start()
        self._parsers = (tool_parser, reasoning_parser)
        self._selected = SelectedParsers()  # likewise
        self._ids = itertools.count()
        self._queues: dict[int, OutputQueue] = {}  # by sequence; the choices of a request share one
        self._running = self._waiting = 0
        self._stall_timeout = stall_timeout
        self._heard_at = 0.0  # by the monotonic clock: when the worker, if it owes something, last gave any of it
        self._preprocess = PreprocessClient(source, preprocess_deadline)
        self._images = ImageClient(preprocess_deadline)
        self._grammars = GrammarClient(str(source.path), grammar_deadline, grammar_computing)
        self._load = LoadModel(
            str(source.path),
            max_sequences,
            draft_path=str(draft_model.path) if draft_model else None,
            prompt_lookup=prompt_lookup,
        )
        self._worker = Supervisor(
            "worker",
            "specvino.engine.openvino.worker",
            self._load,
            incoming=Step,
            on_message=self._receive,
            on_lost=self._lost,
            busy=lambda: bool(self._queues),
            stall_timeout=stall_timeout,
        )

    @property
    def model(self) -> ModelInfo:
        if self._model is None:
            self._worker.check_ready()
            raise EngineUnavailable("The model is loading.", retry_after=1)
        return self._model

    @property
    def pids(self) -> dict[str, int | None]:
        """Returns the child processes, None for one that is being restarted, or was not needed yet."""
        return {
            "worker": self._worker.pid,
            "preprocess": self._preprocess.process.pid,
            "image": self._images.pid,
            **self._grammars.pids,
        }

    async def start(self) -> None:
        try:
            starts = (self._worker.start(), self._preprocess.process.start(), self._grammars.start())
            results = await asyncio.gather(*starts, return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
            self._detokenizer = await self._choose_detokenizer()
            self._selected = self._select_parsers()
        except ModelLoadError as error:
            await self.close()
            raise ModelLoadError(f"{self._source.path}: {error}") from error
        except BaseException:
            await self.close()
            raise
        self._model = ModelInfo(
            self._source.context_length,
            self._preprocess.vocabulary.size,
            self._source.defaults,
            self._load.drafting,
            self._source.vision,
            self._selected.calling,
            thinking_variables(self._preprocess.vocabulary.chat_template),
        )

    async def check(self, request: GenerationRequest) -> None:
        self._check_ready()
        await self._admit_all(request)

    async def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        self._check_ready()
        prompts, resolved = await self._admit_all(request)
        self._check_ready()  # the worker may have died meanwhile
        prompt_tokens = sum(len(prompt.token_ids) for prompt in prompts) // TOKEN_ID_BYTES
        count = None
        queue = OutputQueue()
        prompt_images = [prompt.prompt_images for prompt in prompts if prompt.prompt_images is not None]
        async with sent_images(self._worker, prompt_images):
            choices = self._send(request, list(zip(prompts, resolved, strict=True)), queue)
        ids = list(choices)
        try:
            # Whether a prompt with images fits, only the worker can tell.
            outputs = await queue.take() if prompt_images else []
            if any(output.too_long for output in outputs):
                raise ContextLengthExceeded(None, request.sampling.max_tokens or 1, self._source.context_length)
            yield Started(prompt_tokens, resolved[0].unenforced, resolved[0].unenforced_arguments)
            completion_tokens = reasoning_tokens = 0
            while choices or (prompt_images and count is None):
                for output in outputs or await queue.take():
                    count = output.prompt_tokens or count
                    choice = choices.get(output.id)
                    if choice is None:
                        continue  # tokens made after a stop string
                    if output.error is not None:
                        raise EngineError(output.error)
                    for segment in choice.push(output):
                        if isinstance(segment, Finish):
                            del choices[output.id]
                            self._forget(output.id, finished=output.finish is not None, listen=bool(prompt_images))
                            completion_tokens += choice.output.tokens
                            reasoning_tokens += choice.output.reasoning_tokens
                        yield segment
                outputs = []
            yield Usage(count or prompt_tokens, completion_tokens, reasoning_tokens)
        finally:
            for id in ids:
                self._forget(id, finished=id not in choices)

    async def tokenize(
        self,
        texts: Sequence[str],
        *,
        add_special_tokens: bool,
        max_length: int | None = None,
        pad: PaddingSide | None = None,
    ) -> list[list[int]]:
        tokenized = []
        for index, text in enumerate(texts):
            with numbered("Text", index, len(texts)):
                token_ids = await self._preprocess.tokenize(text, add_special_tokens=add_special_tokens)
            ids = array("q", token_ids).tolist()
            tokenized.append(pad_truncate(ids, max_length, pad, self._preprocess.vocabulary.pad_id))
        return tokenized

    async def read_image(self, file: bytes | str, longest_side: int, most_pixels: int) -> ReadImage:
        self._check_ready()
        return await self._images.decode(file, longest_side, most_pixels)

    def stats(self) -> EngineStats:
        restarts = self._worker.restarts + self._preprocess.process.restarts + self._grammars.restarts
        return EngineStats(self._state(), self._running, self._waiting, restarts, self.cache_usage / 100)

    async def close(self) -> None:
        self._fail(EngineUnavailable("The server is shutting down.", retry_after=1))
        await asyncio.gather(
            self._worker.close(), self._preprocess.close(), self._images.close(), self._grammars.close()
        )
        self._running = self._waiting = 0
        self.cache_usage = 0.0

    def _check_ready(self) -> None:
        self._worker.check_ready()
        self._preprocess.process.check_ready()

    def _state(self) -> State:
        states = {self._worker.state, self._preprocess.process.state}
        if self._grammars.failing:
            states.add("restarting")
        worst: tuple[State, ...] = ("closed", "loading", "restarting")
        return next((state for state in worst if state in states), self._ready() if self._model else "loading")

    def _ready(self) -> State:
        silent = self._queues and time.monotonic() - self._heard_at > self._stall_timeout * _SILENT
        return "stalled" if silent else "ready"

    async def _admit_all(self, request: GenerationRequest) -> tuple[list[_Admitted], list[ResolvedConstraint]]:
        if self._source.vision and (request.sampling.max_tokens == 0 or (request.echo and request.logprobs)):
            # GenAI 2026.4.1: the pipeline would crash (decision 021).
            raise PromptError("This model sees images: it can't repeat a prompt with logprobs, or without an answer.")
        prompts = []
        for index, prompt in enumerate(request.prompts):  # one by one: the prompts of others get in between
            with numbered("Prompt", index, len(request.prompts)):
                prompts.append(await self._admit(prompt, request.sampling.max_tokens))
        resolved = [
            await resolve_constraint(self._grammars, request, prompt.prompt, self._selected, thinking=prompt.thinking)
            for prompt in prompts
        ]
        return prompts, resolved

    async def _admit(self, prompt: Prompt, max_tokens: int | None) -> _Admitted:
        """Returns a prompt that fits. Raises PromptError if the model can't take it, or it leaves no room for what is
        asked."""
        yields = max_tokens is None
        token_ids, text, ending = await self._preprocess.preprocess(prompt)
        images = images_in(prompt) if isinstance(prompt, Conversation) else []
        # An image is one token at the least.
        left = room(len(token_ids) // TOKEN_ID_BYTES + len(images), max_tokens, self._source.context_length)
        if max_tokens is None:  # the model's own limit was not asked for: it yields to the context
            max_tokens = min(left, int(self._source.defaults.get("max_tokens", left)))
        prompt_images = PromptImages(next(self._ids), images) if images else None
        vision_prompt = None
        if text is not None:
            vision_prompt = VisionPrompt(text, self._source.context_length, yields, prompt_images and prompt_images.key)
        return _Admitted(prompt, token_ids, max_tokens, vision_prompt, prompt_images, self._selected.thinking(ending))

    def _send(
        self, request: GenerationRequest, prompts: Sequence[tuple[_Admitted, ResolvedConstraint]], queue: OutputQueue
    ) -> dict[int, RunningChoice]:
        """Sends a sequence for each choice, or one search for a prompt's; returns the choices by their ids."""
        if not self._queues:
            self._heard_at = time.monotonic()
        sampling = request.sampling
        choices: dict[int, RunningChoice] = {}
        for prompt, constraint in prompts:
            seed = secrets.randbits(31) if sampling.seed is None else sampling.seed
            search = sampling.best_of > 1 and prompt.max_new_tokens > 0
            first = len(choices)
            for i in range(request.n):
                id = next(self._ids)
                choices[id] = self._choice(first + i, request, prompt)
                self._queues[id] = queue
                if search and i > 0:
                    continue  # its text comes with that of the first
                self._worker.send(
                    Generate(
                        id=id,
                        token_ids=prompt.token_ids,
                        sampling=sampling,
                        max_new_tokens=prompt.max_new_tokens,
                        seed=(seed + i) % 2**64,
                        n=request.n,
                        logprobs=request.logprobs,
                        # A prompt without an answer can only be given back.
                        echo=(request.echo and request.logprobs) or not prompt.max_new_tokens,
                        vision_prompt=prompt.vision_prompt,
                        lowered=constraint.lowered,
                    )
                )
        return choices

    def _choice(self, index: int, request: GenerationRequest, prompt: _Admitted) -> RunningChoice:
        parser = None
        continued = not isinstance(prompt.prompt, Conversation)
        if isinstance(prompt.prompt, Conversation):
            parser = self._selected.parser(prompt.prompt, thinking=prompt.thinking)
        special = not request.sampling.skip_special_tokens
        shown = self._selected.special_tokens if parser is not None else frozenset[str]()
        detokenizer = self._detokenizer(special=special, each=request.logprobs, shown=shown, continued=continued)
        text = ChoiceText(detokenizer, request.sampling, logprobs=request.logprobs)
        output = ChoiceOutput(index, text, parser, must_call=request.must_call, parallel_calls=request.parallel_calls)
        if not request.echo:
            return RunningChoice(output)
        ids = array("q", prompt.token_ids).tolist()
        return RunningChoice(output, EchoedPrompt(prompt.prompt, ids, self._detokenizer, special=special))

    def _select_parsers(self) -> SelectedParsers:
        try:
            return select_parsers(self._preprocess.vocabulary.chat_template, *self._parsers)
        except ValueError as error:
            raise ModelLoadError(str(error)) from None

    def _forget(self, id: int, *, finished: bool, listen: bool = False) -> None:
        """Cancels the sequence unless it is finished, or was lost with its worker; `listen` hears it out."""
        queue = self._queues.get(id) if listen else self._queues.pop(id, None)
        if queue and not finished:
            self._worker.send(Cancel(id))

    def _receive(self, step: Step) -> None:
        self._heard_at = time.monotonic()
        self._running, self._waiting, self.cache_usage = step.running, step.waiting, step.cache_usage
        for output in step.outputs:
            self.generated_tokens += len(output.token_ids)
            if queue := self._queues.get(output.id):
                queue.put(output)

    def _lost(self, reason: str, stalled: bool) -> None:
        self._running = self._waiting = 0
        self.cache_usage = 0.0
        self._fail(EngineRestarted(f"The request was lost: {reason}."))

    def _fail(self, error: EngineError) -> None:
        queues, self._queues = self._queues, {}
        for queue in queues.values():
            queue.fail(error)

    async def _choose_detokenizer(self) -> DetokenizerFactory:
        vocabulary = self._preprocess.vocabulary
        if vocabulary.table is not None:
            return byte_table.factory(vocabulary.table, vocabulary.special, drops_space=vocabulary.drops_space)
        from specvino.engine.openvino import text_streamer  # only here: it brings OpenVINO into this process

        return await asyncio.to_thread(text_streamer.load, self._source.path, vocabulary.special)
