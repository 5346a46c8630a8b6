"""Requests that need the scores of all tokens, beside the same ones that don't."""

import asyncio
import statistics
import time
from dataclasses import replace

from rich.console import Console
from support.serving import Server

from bench.client import drive
from bench.workload import Load

ROUNDS = 5

LEAST = {1: 0.5, 16: 0.25}
"""What is demanded of the ratio of the tokens per second, by the number of streams."""


def compare(server: Server, console: Console) -> None:
    """Prints the seconds of the first such request, for which the model is loaded, and the ratios of the tokens per
    second, measured in turns."""
    alone = Load(streams=1, rounds=1, words=20)
    _speed(server, alone, 700)
    begun = time.perf_counter()
    _speed(server, replace(alone, new_tokens=1, top_logprobs=5), 701)
    console.print(f"the first token of the first request with top_logprobs: {time.perf_counter() - begun:.1f} s")
    for streams, least in LEAST.items():
        plain = replace(alone, streams=streams)
        ratios = []
        for salt in range(702, 702 + ROUNDS):
            fast = _speed(server, plain, salt)
            full = _speed(server, replace(plain, top_logprobs=5), salt + ROUNDS)
            console.print(f"{streams} streams: {fast:.0f} tok/s, {full:.0f} tok/s with top_logprobs")
            ratios.append(full / fast)
        shown = ", ".join(f"{ratio:.3f}" for ratio in ratios)
        console.print(f"with / without: {shown}; median {statistics.median(ratios):.3f}, demanded is {least}")


def _speed(server: Server, load: Load, salt: int) -> float:
    run = asyncio.run(drive(*server.address, load, salt))
    return run.tokens / run.seconds
