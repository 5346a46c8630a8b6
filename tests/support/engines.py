"""Runs a test on a real engine."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Protocol

from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import EngineStats
from support.processes import leaving_no_process

PATIENCE = 900

Test = Callable[[OpenVINOEngine], Awaitable[Any]]


class Sharing(Protocol):
    """Runs a test on an engine of a model and settings that other tests use, too."""

    def __call__(self, source: ModelSource, test: Test, **settings: Any) -> None: ...


# Goes on until somebody ends it: on a model with the context of `endless` so many tokens take longer than the patience,
# so that what a test sees of such a request doesn't come of its end.
LONG = {"max_tokens": 300_000, "ignore_eos": True}


def endless(source: ModelSource) -> ModelSource:
    """The model, with a context for LONG. It has learnt no sense so far out, but goes on."""
    return replace(source, context_length=1_000_000)


async def idle(engine: OpenVINOEngine) -> None:
    """Waits until no sequence is left and its memory is free."""
    while _does(engine.stats()) or engine.cache_usage:  # noqa: ASYNC110 - only tests wait for this
        await asyncio.sleep(0.01)


def _does(stats: EngineStats) -> bool:
    return (stats.state, stats.running, stats.waiting, stats.restarts) != ("ready", 0, 0, 0)


def running(source: ModelSource, test: Test, **settings: Any) -> None:
    """Starts an engine, runs the test, and sees that no process is left."""

    async def run() -> None:
        engine = OpenVINOEngine(source, **settings)
        await engine.start()
        try:
            async with asyncio.timeout(PATIENCE):
                await test(engine)
        finally:
            await engine.close()

    with leaving_no_process():
        asyncio.run(run())
