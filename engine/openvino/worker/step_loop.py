"""The worker process: it steps the pipeline and sends one message a step for all sequences."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy
import openvino
from openvino_genai import (
    ContinuousBatchingPipeline,
    GenerationStatus,
)

from specvino.engine.openvino.messages.chunking import ChunkJoiner
from specvino.engine.openvino.messages.worker import Cancel, Generate, Output, ReleaseImages, SendImage, Step
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.worker import vision
from specvino.engine.openvino.worker.active_request import ActiveRequest, scores_prompt
from specvino.engine.openvino.worker.generation_config import configure
from specvino.engine.openvino.worker.grammar_compiler import GrammarCompiler
from specvino.engine.protocol import Drafting

if TYPE_CHECKING:
    from specvino.engine.request import Image


# GenAI 2026.4.1: an ended sequence's blocks are free, and the metrics say so, two steps later (decision 034).
_SETTLING_STEPS = 2

# Seconds between two signs of life while all that is to be done waits for a grammar.
_PATIENCE = 0.05


class StepLoop:
    """Steps the pipeline. At most `max_sequences` run at a time, the others wait: GenAI 2026.4.1's own limit has no
    effect (decision 033).

    `plain` loads the model a second time, without prefix cache and speculative decoding: these hide the logprobs of
    prompts in GenAI 2026.4.1 (decision 029). It is called for the first request that wants them.
    """

    def __init__(
        self,
        pipeline: ContinuousBatchingPipeline,
        max_sequences: int,
        *,
        drafting: Drafting | None = None,
        plain: Callable[[], ContinuousBatchingPipeline] | None = None,
    ) -> None:
        self._pipelines = [pipeline]
        self._max_sequences = max_sequences
        self._drafting = drafting
        self._plain = plain
        self._waiting: deque[Generate] = deque()
        self._running: dict[int, ActiveRequest] = {}
        self._pieces = ChunkJoiner()
        self._shown: dict[int, list[Image]] = {}  # by the key under which they came
        self._images: dict[int, list[Image]] = {}  # of those that wait
        self._uncounted: dict[int, ActiveRequest] = {}  # cancelled since the last step, with images
        self._settling = 0
        self._outputs: list[Output] = []
        self._compiler = GrammarCompiler(lambda: self._pipelines[0].get_tokenizer())

    @property
    def idle(self) -> bool:
        return not (self._waiting or self._running or self._settling)

    def renew(self, load: Callable[[], ContinuousBatchingPipeline]) -> None:
        """Replaces the pipeline where it keeps too many grammars. Only for an idle worker."""
        if self._compiler.full:
            self._pipelines.clear()  # before the next one is loaded: memory is for one of them
            self._compiler = GrammarCompiler(lambda: self._pipelines[0].get_tokenizer())
            self._pipelines.append(load())

    def receive(self, message: Generate | Cancel | SendImage | ReleaseImages) -> None:
        match message:
            case Generate():
                self._waiting.append(message)
                if message.vision_prompt and message.vision_prompt.key is not None:
                    self._images[message.id] = self._shown.get(message.vision_prompt.key, [])
            case SendImage():
                image = self._pieces.add(message.key, message.image, message.more)
                if image is not None:
                    self._shown.setdefault(message.key, []).append(image)
            case ReleaseImages():
                self._shown.pop(message.key, None)
                self._pieces.drop(message.key)
            case Cancel():
                self._cancel(message.id)

    def _cancel(self, id: int) -> None:
        if running := self._running.pop(id, None):
            running.handle.cancel()
            self._compiler.began(id)
            self._settling = _SETTLING_STEPS
            if running.with_images:
                self._uncounted[id] = running
        else:
            self._waiting = deque(waiting for waiting in self._waiting if waiting.id != id)
            self._images.pop(id, None)

    def step(self) -> Step:
        """Runs one step and returns what came of it. Raises what the pipeline raises: then GenAI 2026.4.1's is of no
        more use (decision 004)."""
        self._admit_waiting()
        for pipeline in self._pipelines:
            pipeline.step()
        self._settling = max(0, self._settling - 1)
        outputs, self._outputs = self._outputs, []
        outputs += [Output(id, [], prompt_tokens=running.prompt_tokens()) for id, running in self._uncounted.items()]
        self._uncounted.clear()
        outputs += self._read()
        usage = max(pipeline.get_metrics().cache_usage for pipeline in self._pipelines)
        return Step(outputs, len(self._running), len(self._waiting), usage)

    def _admit_waiting(self) -> None:
        held: list[Generate] = []
        while self._waiting and self._fits(self._waiting[0]):
            request = self._waiting.popleft()
            try:
                admitted = self._compiler.admits(request)
            except RuntimeError as error:
                self._outputs.append(Output(request.id, [], error=one_line(error)))
                continue
            if admitted:
                self._admit(request)
            else:
                held.append(request)
        self._waiting.extendleft(reversed(held))
        if held and not self._running:
            self._compiler.wait(_PATIENCE)

    def _fits(self, request: Generate) -> bool:
        """Tells whether the request may run now. A search runs alone where it is wider than all that may run.

        Of prompts whose logprobs are wanted there is one at a time: of several GenAI 2026.4.1 gives wrong
        ones (decision 030).
        """
        if scores_prompt(request) and any(running.scores_prompt for running in self._running.values()):
            return False
        width = sum(running.width for running in self._running.values())
        return not self._running or width + request.beams <= self._max_sequences

    def _admit(self, request: Generate) -> None:
        images = self._images.pop(request.id, [])
        try:
            pipeline = self._pipeline_for(request)
            drafting = self._drafting if pipeline is self._pipelines[0] else None
            config = configure(request, pipeline.get_config(), drafting)
            if request.vision_prompt is not None:
                handle = vision.add(pipeline, request, request.vision_prompt, images, config)
            else:
                ids = numpy.frombuffer(request.token_ids, numpy.int64).reshape(1, -1)
                handle = pipeline.add_request(request.id, openvino.Tensor(ids), config)
        except vision.TooLong:
            self._outputs.append(Output(request.id, [], too_long=True))
        except Exception as error:  # GenAI 2026.4.1 raises several types; the pipeline stays sound
            self._compiler.began(request.id)
            self._outputs.append(Output(request.id, [], error=one_line(error)))
        else:
            self._running[request.id] = ActiveRequest(request, handle)

    def _pipeline_for(self, request: Generate) -> ContinuousBatchingPipeline:
        if not scores_prompt(request):
            return self._pipelines[0]
        if self._plain is not None and len(self._pipelines) == 1:
            self._pipelines.append(self._plain())
        return self._pipelines[-1]

    def _read(self) -> Iterator[Output]:
        for id, running in list(self._running.items()):
            outputs = running.read()
            if outputs:
                self._compiler.began(id)
            status = running.handle.get_status()
            if status == GenerationStatus.RUNNING:
                yield from outputs
                continue
            del self._running[id]
            self._compiler.began(id)
            self._settling = _SETTLING_STEPS
            if status == GenerationStatus.FINISHED and outputs:
                if running.with_images:
                    outputs[-1].prompt_tokens = running.prompt_tokens()
                yield from outputs
            else:
                yield Output(id, [], error="The model ran out of memory for this request.")
