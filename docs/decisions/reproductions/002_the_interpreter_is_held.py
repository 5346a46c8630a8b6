"""Does a step of the pipeline, or the tokenizer, hold Python's lock?"""

import threading
import time
from collections.abc import Callable

from openvino_genai import Tokenizer
from pipelines import TINY_TEXT, config, pipeline, tensor
from verdict import report


def longest_gap(call: Callable[[], object]) -> float:
    """Returns for which share of the call's time no other thread ran."""
    gap, over = 0.0, threading.Event()

    def beat() -> None:
        nonlocal gap
        last = time.perf_counter()
        while not over.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gap, last = max(gap, now - last), now

    other = threading.Thread(target=beat)
    other.start()
    begin = time.perf_counter()
    call()
    took = time.perf_counter() - begin
    over.set()
    other.join()
    return gap / took


pipe = pipeline(scheduler={"max_num_batched_tokens": 2**20})
handle = pipe.add_request(0, tensor(*[5, 6, 7, 8] * 1000), config(max_new_tokens=1))
tokenizer, text = Tokenizer(TINY_TEXT), "some words " * 60_000
step, encode = longest_gap(pipe.step), longest_gap(lambda: tokenizer.encode(text))
report(step > 0.5 or encode > 0.5, f"no other thread ran for {step:.0%} of a step and {encode:.0%} of an encoding")
