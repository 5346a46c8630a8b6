"""The worker process: it steps the pipeline and sends one message a step for all sequences."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy
import openvino
from openvino_genai import (
    ContinuousBatchingPipeline,
    GenerationConfig,
    GenerationFinishReason,
    GenerationStatus,
    SchedulerConfig,
)

from specvino.engine.openvino.messages import Cancel, Generate, LoadModel, Output, Step, ToWorker
from specvino.engine.openvino.reasons import one_line
from specvino.engine.openvino.silence import silence
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready
from specvino.engine.segments import FinishReason

if TYPE_CHECKING:
    from openvino_genai.py_openvino_genai import GenerationHandle

# Fastest for decoding, and the same answers on every CPU: by default those with AMX compute in bf16.
_PROPERTIES = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "u8"}

_SMALLEST = 1e-6  # of temperature and top_p, with which the pipeline draws well

# A cancelled or finished sequence's blocks are free, and the metrics say so, two steps later.
_SETTLING_STEPS = 2

_ALL_TOKENS = 2**64 - 1

_FINISH: dict[GenerationFinishReason, FinishReason] = {
    GenerationFinishReason.STOP: "stop",
    GenerationFinishReason.LENGTH: "length",
}


def load(settings: LoadModel) -> ContinuousBatchingPipeline:
    scheduler = SchedulerConfig()
    # Repeated greedy prompts give identical texts with and without it (tests/engine/openvino/test_prefix_cache.py).
    scheduler.enable_prefix_caching = True
    with silence():
        return ContinuousBatchingPipeline(settings.path, scheduler, "CPU", _PROPERTIES)


class Worker:
    """At most `max_sequences` run at a time (the pipeline's own limit is without effect), the others wait."""

    def __init__(self, pipeline: ContinuousBatchingPipeline, max_sequences: int) -> None:
        self._pipeline = pipeline
        self._max_sequences = max_sequences
        self._waiting: deque[Generate] = deque()
        self._running: dict[int, GenerationHandle] = {}
        self._settling = 0
        self._outputs: list[Output] = []

    @property
    def idle(self) -> bool:
        return not (self._waiting or self._running or self._settling)

    def receive(self, message: Generate | Cancel) -> None:
        if isinstance(message, Generate):
            self._waiting.append(message)
        elif handle := self._running.pop(message.id, None):
            handle.cancel()
            self._settling = _SETTLING_STEPS
        else:
            self._waiting = deque(waiting for waiting in self._waiting if waiting.id != message.id)

    def step(self) -> Step:
        """Raises what the pipeline raises: then it is of no more use."""
        while self._waiting and len(self._running) < self._max_sequences:
            self._admit(self._waiting.popleft())
        self._pipeline.step()
        self._settling = max(0, self._settling - 1)
        outputs, self._outputs = self._outputs, []
        outputs += self._read()
        usage = self._pipeline.get_metrics().cache_usage
        return Step(outputs, len(self._running), len(self._waiting), usage)

    def _admit(self, request: Generate) -> None:
        ids = numpy.frombuffer(request.token_ids, numpy.int64).reshape(1, -1)
        try:
            handle = self._pipeline.add_request(request.id, openvino.Tensor(ids), self._config(request))
        except Exception as error:  # pybind raises several; the pipeline stays sound
            self._outputs.append(Output(request.id, [], error=one_line(error)))
        else:
            self._running[request.id] = handle

    def _config(self, request: Generate) -> GenerationConfig:
        # Of the model's own settings the end-of-turn tokens alone: num_beams or echo in its file would change what
        # an answer is, and its sampling settings come with the request.
        own = self._pipeline.get_config()
        config = GenerationConfig()
        config.eos_token_id = own.eos_token_id
        config.stop_token_ids = own.stop_token_ids
        config.max_new_tokens = request.max_new_tokens
        config.ignore_eos = request.ignore_eos
        # Below, the softmax overflows: so small a value means the likeliest token.
        config.do_sample = min(request.temperature, request.top_p) >= _SMALLEST
        if config.do_sample:
            config.temperature = request.temperature
            config.top_p = request.top_p
            config.top_k = request.top_k if request.top_k > 0 else _ALL_TOKENS
            config.rng_seed = request.seed
        config.frequency_penalty = request.frequency_penalty
        config.presence_penalty = request.presence_penalty
        config.repetition_penalty = request.repetition_penalty
        return config

    def _read(self) -> Iterator[Output]:
        for id, handle in list(self._running.items()):
            token_ids: list[int] = []
            reason = GenerationFinishReason.NONE
            while handle.can_read():  # reading when there is nothing blocks for ever
                for part in handle.read().values():
                    token_ids += part.generated_ids
                    reason = part.finish_reason
            status = handle.get_status()
            if status == GenerationStatus.RUNNING:
                if token_ids:
                    yield Output(id, token_ids)
                continue
            del self._running[id]
            self._settling = _SETTLING_STEPS
            if status == GenerationStatus.FINISHED and reason in _FINISH:
                yield Output(id, token_ids, _FINISH[reason])
            else:
                yield Output(id, token_ids, error="The model ran out of memory for this request.")


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    worker = Worker(load(settings), settings.max_sequences)
    channel.send(Ready())
    while True:
        message = channel.receive() if worker.idle else channel.poll()
        while message is not None:
            worker.receive(message)
            message = channel.poll()
        channel.send(worker.step())


if __name__ == "__main__":
    child.run(ToWorker, work, one_line)
