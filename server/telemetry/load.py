"""The load of a server in its log: a line for each busy model, every ten seconds."""

import asyncio
import logging
from collections.abc import Mapping

from specvino.engine.protocol import Engine

logger = logging.getLogger("specvino.load")

# Seconds.
_INTERVAL = 10


async def log_load(engines: Mapping[str, Engine], interval: float = _INTERVAL) -> None:
    """Logs the load of engines, keyed by their models' names, until it is cancelled. An idle engine has no line."""
    tokens = dict.fromkeys(engines, 0)
    while True:
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(interval)
        seconds = asyncio.get_running_loop().time() - began
        for name, engine in engines.items():
            new = engine.generated_tokens - tokens[name]
            tokens[name] = engine.generated_tokens
            log_busy(name, engine, new / seconds)


def log_busy(name: str, engine: Engine, rate: float) -> None:
    """Logs the load of an engine that generates `rate` tokens per second, if it is busy."""
    stats = engine.stats()
    if not (rate or stats.running or stats.waiting):
        return
    figures = {
        "tokens_per_second": round(rate, 1),
        "running": stats.running,
        "waiting": stats.waiting,
        "kv_cache_usage": round(stats.cache_usage, 3),
    }
    message = "%s: %.1f tokens/s, %d running, %d waiting, %.0f %% of the KV cache"
    values = (name, rate, stats.running, stats.waiting, 100 * stats.cache_usage)
    logger.info(message, *values, extra={"model": name, **figures})
