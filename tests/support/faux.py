"""The suite at work on faux servers, over real HTTP."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from fnmatch import fnmatch
from functools import cache

import uvicorn

from specvino.conformance.client import Client, Target
from specvino.conformance.dialect import Dialect
from specvino.conformance.faux.server import Faux
from specvino.conformance.plan import plan
from specvino.conformance.run import Run
from specvino.conformance.verdict import Result, Verdict

KEY = "sk-faux"
MODEL = "faux"

PACE = 0.004
"""Seconds that a token takes where cases compare times."""

dialect = cache(Dialect)


def judged(
    server: Callable[..., Faux], *, by: str = "specvino", pace: float = 0.0, only: tuple[str, ...] = ()
) -> dict[str, Result]:
    """The results of the whole suite by their rules, or of the cases of which `only` has patterns."""
    return asyncio.run(_judged(server(key=KEY, model=MODEL, pace=pace), dialect(by), only))


@cache
def of_defect(defect: type[Faux]) -> dict[str, Result]:
    """The same for a defect; the cases that compare times are judged where it may break one of them."""
    results = judged(defect)
    concerned = tuple(rule for rule in timed() if matches(rule, defect.breaks | defect.also))
    again = judged(defect, pace=PACE, only=concerned) if concerned else {}
    return results | {rule: result for rule, result in again.items() if rule in concerned}


@cache
def timed() -> frozenset[str]:
    """The cases that can't tell anything of a server whose tokens take no time."""
    return frozenset(rule for rule, result in judged(Faux).items() if result.verdict is Verdict.SKIP)


def failed(results: dict[str, Result]) -> set[str]:
    return {rule for rule, result in results.items() if result.verdict in (Verdict.FAIL, Verdict.ERROR)}


def matches(rule: str, patterns: set[str]) -> bool:
    """A pattern means rules for all answers and capabilities only where it names them."""
    return any(
        fnmatch(rule, pattern) and all(kind in pattern or kind not in rule for kind in ("/rules/", "/capabilities/"))
        for pattern in patterns
    )


async def _judged(server: Faux, dialect: Dialect, only: tuple[str, ...]) -> dict[str, Result]:
    chosen = plan(dialect, profile="full", layers=("cases", "streams"), filters=only, key=True)
    async with serving(server) as url, Client(Target(url, key=KEY, model=MODEL, timeout=3.0)) as client:
        return {result.rule: result async for result in Run(client, dialect, MODEL, chosen).results()}


@asynccontextmanager
async def serving(server: Faux) -> AsyncIterator[str]:
    """Its base URL, while it runs."""
    # With its protocol named, asyncio sends small packets at once.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(server, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            running.should_exit = True
            await task
