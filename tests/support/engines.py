"""Runs a test on a real engine."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.protocol import EngineStats
from support.processes import leaving_no_process

PATIENCE = 300

# Goes on until somebody ends it, as far as a test is concerned.
LONG = {"max_tokens": 3000, "ignore_eos": True}


async def idle(engine: OpenVINOEngine) -> None:
    """Waits until no sequence is left and its memory is free."""
    while engine.stats() != EngineStats("ready", 0, 0, 0) or engine.cache_usage:  # noqa: ASYNC110 - only tests wait for this
        await asyncio.sleep(0.01)


def running(source: ModelSource, test: Callable[[OpenVINOEngine], Awaitable[Any]], **settings: Any) -> None:
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
