"""The lines about the load of a server."""

import asyncio
import contextlib
import logging
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.serving import PATIENCE

from specvino.engine.protocol import Engine, EngineStats
from specvino.server.telemetry.load import log_busy, log_load, logger


def engine(running: int = 0, waiting: int = 0, cache_usage: float = 0.0) -> Engine:
    stats = EngineStats("ready", running, waiting, 0, cache_usage)
    return cast("Engine", SimpleNamespace(stats=lambda: stats, generated_tokens=0))


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[logging.LogRecord]:
    records: list[logging.LogRecord] = []
    monkeypatch.setattr(logger, "info", lambda *values, extra: records.append(_record(values, extra)))
    return records


def _record(values: tuple[Any, ...], extra: dict[str, Any]) -> logging.LogRecord:
    return logger.makeRecord("", logging.INFO, "", 0, values[0], values[1:], None, extra=extra)


def test_a_busy_engine(lines: list[logging.LogRecord]) -> None:
    log_busy("m", engine(2, 3, 0.25), 12.345)
    (line,) = lines
    assert line.getMessage() == "m: 12.3 tokens/s, 2 running, 3 waiting, 25 % of the KV cache"
    members: dict[str, Any] = vars(line)
    assert (members["model"], members["tokens_per_second"], members["running"], members["waiting"]) == ("m", 12.3, 2, 3)


def test_an_idle_engine_has_no_line(lines: list[logging.LogRecord]) -> None:
    log_busy("m", engine(), 0.0)
    assert lines == []
    log_busy("m", engine(waiting=1), 0.0)
    log_busy("m", engine(), 0.1)
    assert len(lines) == 2


def test_tokens_are_counted_since_the_line_before(lines: list[logging.LogRecord]) -> None:
    busy = cast("Any", engine(1))

    async def run() -> None:
        two = asyncio.Event()
        stats = busy.stats

        def counted() -> EngineStats:
            if len(lines) >= 2:
                two.set()
            return cast("EngineStats", stats())

        busy.stats = counted
        busy.generated_tokens = 5
        logging_load = asyncio.create_task(log_load({"m": busy}, 0.001))
        await asyncio.wait_for(two.wait(), PATIENCE)
        logging_load.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await logging_load

    asyncio.run(run())
    first, second, *_ = [vars(line)["tokens_per_second"] for line in lines]
    assert first > 0
    assert second == 0
