"""One engine for all tests of a module that leave it as it was."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from support.engines import PATIENCE, Sharing, Test, idle
from support.processes import leaving_no_process

from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine


@pytest.fixture(scope="module")
def sharing() -> Iterator[Sharing]:
    """Runs tests on an engine that is started once for each model; each test has to leave it idle and unbroken."""
    engines: dict[object, OpenVINOEngine] = {}

    async def run(source: ModelSource, test: Test) -> None:
        if source.path not in engines:
            engines[source.path] = OpenVINOEngine(source)
            await engines[source.path].start()
        async with asyncio.timeout(PATIENCE):
            await test(engines[source.path])
            await idle(engines[source.path])

    async def close() -> None:
        for engine in engines.values():
            await engine.close()

    with leaving_no_process(), _going_on() as loop:
        try:
            yield lambda source, test: asyncio.run_coroutine_threadsafe(run(source, test), loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(close(), loop).result()


@contextmanager
def _going_on() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs between the tests, too: an engine hears its processes there."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
