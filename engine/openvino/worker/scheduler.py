"""The scheduler of the worker: decides which sequences and slices of prompts the pipeline receives before each step."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy
import openvino
from openvino_genai import (
    ContinuousBatchingPipeline,
    GenerationConfig,
    GenerationStatus,
)

from specvino.engine.openvino.messages.images import ChunkJoiner
from specvino.engine.openvino.messages.options import PipelineOptions
from specvino.engine.openvino.messages.worker import (
    LONGEST_DRAFTED,
    Cancel,
    Generate,
    Output,
    ReleaseImages,
    SendImage,
    Step,
)
from specvino.engine.openvino.native.error_output import one_line
from specvino.engine.openvino.native.fair_queue import FairQueue
from specvino.engine.openvino.worker import vision
from specvino.engine.openvino.worker.draft_budget import DraftBudget
from specvino.engine.openvino.worker.generation_config import configure
from specvino.engine.openvino.worker.grammar_compiler import GrammarCompiler
from specvino.engine.openvino.worker.prompt_progress import ComputedPrompts, PromptBacklog, UncomputedPrompts
from specvino.engine.openvino.worker.prompt_slices import PromptSlices, SlicedPrompt
from specvino.engine.openvino.worker.sequence import Sequence
from specvino.engine.protocol import Drafting

if TYPE_CHECKING:
    from specvino.engine.request import Image


# GenAI 2026.4.1: an ended sequence's blocks are freed, also in the metrics, two steps later (decision 034).
_SETTLING_STEPS = 2

# Seconds between two heartbeats while all requests wait for a grammar.
_PATIENCE = 0.05


class Scheduler:
    """Schedules sequences and runs the pipeline's steps. At most `max_sequences` run at a time, the others wait: GenAI
    2026.4.1's own limit has no effect (decision 033).

    A step computes at most `step_tokens` of prompts. `drafting` is the pipeline's kind of speculative decoding, and
    `cache_tokens` is how many tokens fit into its cache, None if it grows. `hidden_size` is the model's, None if it
    isn't known.
    """

    def __init__(
        self,
        pipeline: ContinuousBatchingPipeline,
        max_sequences: int,
        *,
        step_tokens: int = PipelineOptions().max_num_batched_tokens,
        prefix_cache: bool = True,
        drafting: Drafting | None = None,
        cache_tokens: int | None = None,
        hidden_size: int | None = None,
    ) -> None:
        self._pipeline: ContinuousBatchingPipeline | None = pipeline
        self._queue = FairQueue(max_sequences)
        self._drafts = DraftBudget(drafting, max_sequences, cache_tokens)
        self._backlog = PromptBacklog(LONGEST_DRAFTED if drafting == "draft_model" else step_tokens)
        self._running: dict[int, Sequence] = {}
        self._pieces = ChunkJoiner()
        self._sent_images: dict[int, list[Image]] = {}  # by the key of the messages
        self._images: dict[int, list[Image]] = {}  # of waiting sequences
        self._prompts = UncomputedPrompts(step_tokens - max_sequences)
        self._prefix_cache = prefix_cache
        self._cache_tokens = cache_tokens
        self._computed = ComputedPrompts(cache_tokens)
        self._slices = PromptSlices(step_tokens, hidden_size)
        self._slices_turn = False
        self._leaving: set[int] = set()  # running sequences that were cancelled during their prompt
        self._uncounted: dict[int, Sequence] = {}  # sequences with images that were cancelled since the last step
        self._settling = 0
        self._outputs: list[Output] = []
        self._compiler = self._new_compiler()

    @property
    def idle(self) -> bool:
        return not (self._queue or self._slices or self._running or self._settling)

    @property
    def pipeline(self) -> ContinuousBatchingPipeline:
        assert self._pipeline is not None
        return self._pipeline

    def renew(self, load: Callable[[], ContinuousBatchingPipeline]) -> None:
        """Replaces the pipeline if it keeps too many grammars. Call it only on an idle scheduler."""
        if self._compiler.full:
            self._pipeline = None  # before loading the next one: there may be no memory for both
            self._compiler = self._new_compiler()
            self._computed = ComputedPrompts(self._cache_tokens)  # its cache is empty
            self._pipeline = load()

    def receive(self, message: Generate | Cancel | SendImage | ReleaseImages) -> None:
        match message:
            case Generate():
                for sequence in message.split():
                    self._queue.add(sequence)
                    if message.vision_prompt and message.vision_prompt.key is not None:
                        self._images[sequence.id] = self._sent_images.get(message.vision_prompt.key, [])
            case SendImage():
                image = self._pieces.add(message.key, message.image, message.more)
                if image is not None:
                    self._sent_images.setdefault(message.key, []).append(image)
            case ReleaseImages():
                self._sent_images.pop(message.key, None)
                self._pieces.drop(message.key)
            case Cancel():
                self._cancel(message.id)

    def _cancel(self, id: int) -> None:
        if self._prefix_cache and id in self._running and id in self._prompts:
            self._leaving.add(id)
        elif id in self._slices:
            self._slices[id].cancelled = True
        elif running := self._running.pop(id, None):
            running.handle.cancel()
            self._ended(running)
            if running.with_images:
                self._uncounted[id] = running
        else:
            self._queue.drop(id)
            self._images.pop(id, None)

    def step(self) -> Step:
        """Runs one step and returns its outputs. Raises the pipeline's errors, after which it is unusable (GenAI
        2026.4.1, decision 004).
        """
        self._admit_waiting()
        self._prompts.stepped()
        self.pipeline.step()
        self._backlog.stepped()
        self._settling = max(0, self._settling - 1)
        outputs, self._outputs = self._outputs, []
        outputs += [Output(id, [], prompt_tokens=running.prompt_tokens()) for id, running in self._uncounted.items()]
        self._uncounted.clear()
        self._read_slices()
        read = list(self._read())
        for id in [id for id in self._leaving if id not in self._prompts]:
            self._leaving.remove(id)
            self._cancel(id)
        # A step computes a token of each sequence in addition to drafts.
        accepted = sum(len(output.token_ids[1:]) for output in read) if self._drafts.kind else 0
        usage = self.pipeline.get_metrics().cache_usage
        running = len(self._running) + len(self._slices)
        return Step(outputs + read, running, len(self._queue), usage, accepted)

    def _admit_waiting(self) -> None:
        passed: set[int] = set()  # requests that can't start yet
        held: set[int] = set()  # requests whose prompts can't be computed further yet
        short = False  # a short request begins, which doesn't share its step with a slice
        while self._backlog.has_room:
            sliced, request = self._slices.next(held), self._queue.next(passed)
            if sliced is not None and not short and (self._slices_turn or request is None):
                if not self._backlog.fits(self._slice_end(sliced)):
                    break
                self._slices_turn = False
                self._advance(sliced, held)
            elif request is not None:
                if not self._backlog.fits(request.prompt_tokens):
                    break
                self._slices_turn = True
                if self._is_long(request):
                    self._slice(request, passed)
                elif self._ready(request, passed, self._queue.refuse):
                    self._queue.begin(request)
                    self._slices.make_way()
                    short = True
                    if self._admit(request) and self._running[request.id].with_images:
                        break  # the pipeline encodes images before a step: those of one request at a time
            else:
                break
        self._compiler.compile_next()
        if (passed or held) and not self._running and not self._slices.under_way:
            self._compiler.wait(_PATIENCE)

    def _ready(self, request: Generate, passed: set[int], refuse: Callable[[Generate], None]) -> bool:
        """Returns whether the request may be added to the pipeline now; calls `refuse` if it never may."""
        try:
            ready = self._drafts.admits(request) and self._compiler.admits(request)
        except RuntimeError as error:
            refuse(request)
            self._outputs.append(Output(request.id, [], error=one_line(error)))
            return False
        if not ready:
            passed.add(request.request)
        return ready

    def _is_long(self, request: Generate) -> bool:
        """Returns whether the prompt takes more than two steps, and can be computed in slices."""
        if not self._finds_prompts(request):
            return False
        uncached = self._uncached(request)
        return uncached > 2 * self._slices.tokens(len(self._running), request.prompt_tokens - uncached)

    def _slice(self, request: Generate, passed: set[int]) -> None:
        if self._slices.has_of(request.request):
            passed.add(request.request)
            return
        self._queue.begin(request)
        self._slices.add(request, request.prompt_tokens - self._uncached(request))

    def _advance(self, prompt: SlicedPrompt, held: set[int]) -> None:
        """Adds the next slice to the pipeline, or the request itself for the rest of the prompt."""
        request = prompt.request
        end = self._slice_end(prompt)
        if end == request.prompt_tokens:
            if self._ready(request, held, lambda _: self._leave(prompt)):
                self._slices.remove(prompt)
                self._admit(request, prompt.begun)
            return
        ids = numpy.frombuffer(request.token_ids, numpy.int64)[:end].reshape(1, -1)
        config = GenerationConfig()
        config.max_new_tokens = 1
        config.ignore_eos = True
        id = self._slices.new_id()
        try:
            handle = self.pipeline.add_request(id, openvino.Tensor(ids), config)
        except Exception:  # GenAI 2026.4.1 raises several types; the error will be reported with the request itself
            prompt.unsliced = True
            return
        self._slices.began(prompt, id, handle, end)
        self._backlog.add(id, self._slices.step_tokens, end)  # it takes the time of a whole step, whatever its size

    def _slice_end(self, prompt: SlicedPrompt) -> int:
        """Returns up to which token the next slice goes: that of the whole prompt for the rest."""
        prompt.computed = max(prompt.computed, self._computed.tokens(prompt.request.token_ids))
        size = self._slices.tokens(len(self._running), prompt.computed)
        return prompt.request.prompt_tokens if prompt.unsliced or prompt.left <= size else prompt.computed + size

    def _read_slices(self) -> None:
        for prompt in self._slices.stepped():
            self._backlog.done(prompt.slice_id)
            self._computed.add(prompt.done)
        for prompt in self._slices.cancelled():
            self._leave(prompt)

    def _leave(self, prompt: SlicedPrompt) -> None:
        """Ends a request with an incomplete prompt."""
        self._slices.remove(prompt)
        self._queue.end(prompt.request)
        self._settling = _SETTLING_STEPS

    def _admit(self, request: Generate, begun: float | None = None) -> bool:
        """Adds a request to the pipeline that has its slots; `begun` is the start time of its prompt, if in slices."""
        images = self._images.pop(request.id, [])
        drafts = self._drafts.begin(request)
        try:
            config = configure(request, self.pipeline.get_config(), self._drafts.kind, drafts)
            if request.vision_prompt is not None:
                handle = vision.add(self.pipeline, request, request.vision_prompt, images, config)
            else:
                ids = numpy.frombuffer(request.token_ids, numpy.int64).reshape(1, -1)
                handle = self.pipeline.add_request(request.id, openvino.Tensor(ids), config)
        except vision.Refused as refused:
            self._outputs.append(Output(request.id, [], refusal=refused.reason))
        except Exception as error:  # GenAI 2026.4.1 raises several types; the pipeline stays usable
            self._outputs.append(Output(request.id, [], error=one_line(error)))
        else:
            self._running[request.id] = Sequence(request, handle, begun)
            self._backlog.add(request.id, self._uncached(request), request.prompt_tokens)
            self._prompts.add(request)
            return True
        self._compiler.began(request.id)
        self._queue.end(request)
        self._drafts.end(request)
        return False

    def _uncached(self, request: Generate) -> int:
        """Estimates how many tokens of the prompt must be computed, at least one."""
        known = self._computed.tokens(request.token_ids) if self._finds_prompts(request) else 0
        return max(1, request.prompt_tokens - known)

    def _finds_prompts(self, request: Generate) -> bool:
        """Returns whether the scheduler tracks the prompt's tokens in the prefix cache. A vision-language model's
        pipeline takes texts instead of tokens; and many prompts in a step leave no room for drafts (decision 028).
        """
        return self._prefix_cache and not self._drafts.kind and request.vision_prompt is None

    def _began(self, id: int) -> None:
        """Records that a sequence has its first token, or has ended."""
        self._compiler.began(id)
        self._backlog.done(id)
        self._prompts.done(id)

    def _ended(self, running: Sequence) -> None:
        self._began(running.request.id)
        self._queue.end(running.request)
        self._drafts.end(running.request)
        self._settling = _SETTLING_STEPS

    def _new_compiler(self) -> GrammarCompiler:
        return GrammarCompiler(lambda: self.pipeline.get_tokenizer())

    def _read(self) -> Iterator[Output]:
        for id, running in list(self._running.items()):
            outputs = running.read()
            if outputs:
                self._began(id)
                if outputs[0].begun is not None and self._finds_prompts(running.request):
                    self._computed.add(running.request.token_ids)
            status = running.handle.get_status()
            if status == GenerationStatus.RUNNING:
                yield from outputs
                continue
            del self._running[id]
            self._ended(running)
            if status == GenerationStatus.FINISHED and outputs:
                if running.with_images:
                    outputs[-1].prompt_tokens = running.prompt_tokens()
                yield from outputs
            else:
                yield Output(id, [], error="The model ran out of memory for this request.")
