"""What breaks: each child process is killed, then frozen; so is the file of stored responses deleted."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import httpx
import psutil

from soak.census import Watch
from soak.journal import Journal

# Seconds in which the server has to be ready again.
_READY = 150

# Seconds for which a process is frozen that then goes on: no reason to replace it.
_HICCUP = 3.0

Fault = Callable[[], Awaitable[None]]


class Faults:
    """Takes turns: with each call of `next` something else breaks, and the server has to be ready again; `restored`
    gets the seconds until then."""

    def __init__(self, watch: Watch, journal: Journal, url: str, restored: dict[str, list[float]]) -> None:
        self._watch = watch
        self._journal = journal
        self._url = url
        self._restored = restored
        self._done: set[str] = set()

    async def next(self) -> None:
        roles = sorted(self._watch.processes().keys() - {"server"}, reverse=True)  # the worker first
        turns: list[tuple[str, Fault]] = [
            (f"{name} {role}", partial(action, role))
            for name, action in (("kill", self._kill), ("hiccup of", self._hiccup))
            for role in roles
        ]
        turns.append(("delete the database", self._delete))
        left = [turn for turn in turns if turn[0] not in self._done]
        if not left:
            self._done.clear()
            left = turns
        self._done.add(left[0][0])
        await self.breaks(*left[0])

    async def freeze_worker(self) -> None:
        """Stops the worker for good: only the watch over its silence finds that."""
        await self.breaks("freeze worker", self._freeze)

    async def breaks(self, name: str, fault: Fault) -> None:
        begun = time.monotonic()
        await fault()
        while not await self._healthy():
            if time.monotonic() - begun > _READY:
                self._journal.fault(f"{name}: the server is not ready after {_READY} s")
                return
            await asyncio.sleep(0.2)
        self._restored.setdefault(name, []).append(time.monotonic() - begun)

    async def _kill(self, role: str) -> None:
        if process := self._watch.processes().get(role):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    async def _hiccup(self, role: str) -> None:
        if process := self._watch.processes().get(role):
            with suppress(psutil.NoSuchProcess):
                process.suspend()
                await asyncio.sleep(_HICCUP)
                process.resume()

    async def _freeze(self) -> None:
        worker = self._watch.processes()["worker"]
        worker.suspend()
        while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110 - it is killed by the server
            await asyncio.sleep(0.5)

    async def _delete(self) -> None:
        for file in (self._watch.folder / "data").rglob("responses.db*"):
            file.unlink(missing_ok=True)
        self._journal.lost_stores += 1

    async def _healthy(self) -> bool:
        async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
            with suppress(httpx.TransportError):
                return (await client.get(f"{self._url.removesuffix('/v1')}/health")).status_code == 200
        return False
