"""The engine without HTTP: the same pipeline, driven by a bare loop in a process of its own."""

import multiprocessing
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any

from bench.workload import NEW_TOKENS, Load
from specvino.engine.models import ModelSource


class Bare:
    """The process, with the model loaded."""

    def __init__(self, source: ModelSource) -> None:
        # Spawned: a forked child of a process that has touched OpenVINO computes on one core.
        context = multiprocessing.get_context("spawn")
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=_main, args=(far, str(source.path)), daemon=True)
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


def _main(pipe: Connection, path: str) -> None:
    from openvino_genai import Tokenizer

    from specvino.engine.openvino.messages.worker import LoadModel
    from specvino.engine.openvino.worker.pipeline import load

    pipeline = load(LoadModel(path, max_sequences=0))
    tokenizer = Tokenizer(path)
    pipe.send("ready")
    while True:
        try:
            work, salt = pipe.recv()
        except EOFError:
            return
        pipe.send(_drive(pipeline, tokenizer, work, salt))


def _drive(pipeline: Any, tokenizer: Any, load: Load, salt: int) -> tuple[float, float]:
    """A closed loop: each stream asks its next prompt when the one before is answered."""
    config = pipeline.get_config()
    config.max_new_tokens = NEW_TOKENS
    config.ignore_eos = True
    config.do_sample = False
    queues = [list(reversed(prompts)) for prompts in load.prompts(salt)]
    running: dict[int, tuple[Any, float, bool]] = {}
    firsts = []
    number = salt * 10_000
    start = time.perf_counter()
    while any(queues) or running:
        for stream, queue in enumerate(queues):
            if stream not in running and queue:
                asked = time.perf_counter()
                text = tokenizer.apply_chat_template([{"role": "user", "content": queue.pop()}], True)
                ids = tokenizer.encode(text, add_special_tokens=False).input_ids
                number += 1
                running[stream] = (pipeline.add_request(number, ids, config), asked, False)
        pipeline.step()
        for stream, (handle, asked, started) in list(running.items()):
            while handle.can_read():
                handle.read()
                if not started:
                    started = True
                    firsts.append(time.perf_counter() - asked)
            if handle.get_status().name != "RUNNING":
                del running[stream]
            else:
                running[stream] = (handle, asked, started)
    return time.perf_counter() - start, statistics.median(firsts)
