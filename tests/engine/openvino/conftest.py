"""One engine of each model for all tests that leave it as it was."""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psutil
import pytest
from support.engines import PATIENCE, Sharing, Test, idle
from support.processes import gone

from specvino.engine.models import ModelSource
from specvino.engine.openvino.engine import OpenVINOEngine
from specvino.engine.output_parsers.selection import select_parsers

MOST = 3
"""Engines that are kept: the one that was used last is the last to be closed."""


@pytest.fixture(scope="package")
def sharing() -> Iterator[Sharing]:
    """Runs tests on an engine that is started once for a model and settings; each test has to leave it idle and
    unbroken. Parsers are no reason to start another one: only the server's process knows them."""
    engines: dict[str, OpenVINOEngine] = {}
    processes: set[psutil.Process] = set()

    async def run(source: ModelSource, test: Test, parsers: Sequence[str | None], settings: Mapping[str, Any]) -> None:
        key = repr((source, settings))
        engine = engines.pop(key, None)
        if engine is None:
            if len(engines) == MOST:
                await engines.pop(next(iter(engines))).close()
            before = psutil.Process().children()
            engine = OpenVINOEngine(source, **settings)
            await engine.start()
            processes.update(child for child in psutil.Process().children() if child not in before)
        engines[key] = engine
        parse_by(engine, *parsers)
        async with asyncio.timeout(PATIENCE):
            await test(engine)
            await idle(engine)

    async def close() -> None:
        for engine in engines.values():
            await engine.close()

    with _going_on() as loop:
        try:
            yield (
                lambda source, test, tool_parser=None, reasoning_parser=None, **settings: (
                    asyncio.run_coroutine_threadsafe(
                        run(source, test, (tool_parser, reasoning_parser), settings), loop
                    ).result()
                )
            )
        finally:
            asyncio.run_coroutine_threadsafe(close(), loop).result()
    assert gone(*processes)


def parse_by(engine: OpenVINOEngine, tool_parser: str | None, reasoning_parser: str | None) -> None:
    """Has an engine parse as if it had been started with these parsers; its `model` stays as it is."""
    vocabulary = engine._preprocess.vocabulary
    parsers = select_parsers(vocabulary.formats, tool_parser, reasoning_parser, vocabulary.special.values())
    engine._admission.parsers = engine._choices.parsers = parsers


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
