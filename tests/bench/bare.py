"""The engine without HTTP: the worker's own pipeline with the server's settings, driven by a bare loop in a process of
its own, which renders and tokenizes the prompts and detokenizes the answers as the server does."""

import multiprocessing
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

import numpy

from bench.workload import Load
from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.memory_needs import needs
from specvino.engine.openvino.client.memory_plan import choose_cache
from specvino.engine.processes.memory import memory


class Bare:
    """The process, with the model loaded."""

    def __init__(self, source: ModelSource, cache_size: float | None = None) -> None:
        # Spawned: a forked child of a process that has touched OpenVINO computes on one core.
        context = multiprocessing.get_context("spawn")
        self._pipe, far = context.Pipe()
        cache_size = cache_size or choose_cache([needs(source)], memory(), None)
        self._process = context.Process(target=_main, args=(far, str(source.path), cache_size), daemon=True)
        self._process.start()
        far.close()
        self._pipe.recv()

    def run(self, load: Load, salt: int, beside: Callable[[], object]) -> tuple[float, float]:
        """Runs a load, with `beside` going on here. Returns its seconds and the median seconds to a first token."""
        companion = Thread(target=beside)
        self._pipe.send((load, salt))
        companion.start()
        seconds, first = self._pipe.recv()
        companion.join()
        return seconds, first

    def close(self) -> None:
        self._pipe.close()
        self._process.join()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid


def _main(pipe: Connection, path: str, cache_size: float) -> None:
    from specvino.engine.openvino.messages.worker import LoadModel
    from specvino.engine.openvino.native.tokenizer import load_tokenizer
    from specvino.engine.openvino.preprocess.preprocessor import Preprocessor
    from specvino.engine.openvino.worker.pipeline import load
    from specvino.engine.output.detokenizer import byte_table_factory

    pipeline = load(LoadModel(path, max_sequences=64, cache_size=cache_size))
    preprocessor = Preprocessor(load_tokenizer(path))
    vocabulary = preprocessor.vocabulary()
    assert vocabulary.table is not None, "a model whose tokens have no bytes of their own"
    detokenizers = byte_table_factory(vocabulary.table, vocabulary.special, drops_space=vocabulary.drops_space)
    pipe.send("ready")
    while True:
        try:
            work, salt = pipe.recv()
        except EOFError:
            return
        pipe.send(_drive(pipeline, preprocessor, detokenizers, work, salt))


def _drive(pipeline: Any, preprocessor: Any, detokenizers: Any, load: Load, salt: int) -> tuple[float, float]:
    """A closed loop: each stream asks its next prompt when the one before is answered."""
    import openvino

    from specvino.engine.request import Conversation, Message

    config = pipeline.get_config()
    config.max_new_tokens = load.new_tokens
    config.ignore_eos = True
    config.do_sample = False
    queues = [list(reversed(prompts)) for prompts in load.prompts(salt)]
    running: dict[int, tuple[Any, Any, float]] = {}
    firsts: dict[int, float] = {}
    number = salt * 10_000
    start = time.perf_counter()
    while any(queues) or running:
        for stream, queue in enumerate(queues):
            if stream not in running and queue:
                asked = time.perf_counter()
                ids = preprocessor.preprocess(Conversation((Message("user", queue.pop()),)))
                tensor = openvino.Tensor(numpy.frombuffer(ids, numpy.int64).reshape(1, -1))
                number += 1
                running[stream] = (pipeline.add_request(number, tensor, config), detokenizers(), asked)
        pipeline.step()
        for stream, (handle, detokenizer, asked) in list(running.items()):
            while handle.can_read():
                for output in handle.read().values():
                    text = detokenizer.push(output.generated_ids)
                    if text:
                        firsts.setdefault(id(handle), time.perf_counter() - asked)
            if handle.get_status().name != "RUNNING":
                del running[stream]
    return time.perf_counter() - start, statistics.median(firsts.values())
