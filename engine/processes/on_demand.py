"""A child that is started on demand, and ended when it is idle."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.processes.supervisor import Supervisor

_RETRY_AFTER = 30  # seconds


class OnDemand:
    """Keeps the process that `make` returns running while it is used, and for `patience` seconds longer. `make` may
    raise an EngineError, for instance if there isn't enough memory.
    """

    def __init__(self, make: Callable[[], Supervisor], patience: float) -> None:
        self._make = make
        self._patience = patience
        self._process: Supervisor | None = None
        self._start: asyncio.Task[None] | None = None
        self._users = 0
        self._end: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def pid(self) -> int | None:
        """Returns the child's process id, None while there is none."""
        return self._process.pid if self._process else None

    @property
    def wanted(self) -> bool:
        """Returns whether the process runs, or is being started or restarted."""
        return self._process is not None

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Supervisor]:
        """Yields the process when it is ready. Raises EngineUnavailable, and what `make` raises."""
        self._users += 1
        if self._end is not None:
            self._end.cancel()
        try:
            yield await self._ready()
        finally:
            self._users -= 1
            if not self._users:
                self._end = asyncio.get_running_loop().call_later(self._patience, self._end_it)

    async def close(self) -> None:
        """Ends the process."""
        if self._end is not None:
            self._end.cancel()
        self._end_it()
        await asyncio.gather(*self._closing)

    async def _ready(self) -> Supervisor:
        if self._process is None or self._start is None:
            self._process = self._make()
            self._start = asyncio.create_task(self._process.start())
        process, start = self._process, self._start
        try:
            await asyncio.shield(start)  # other requests may wait for it if this one is cancelled
        except ModelLoadError as error:
            if self._process is process:
                self._process = self._start = None
            raise EngineUnavailable(f"The process for this request can't be loaded: {error}", _RETRY_AFTER) from error
        process.check_ready()
        return process

    def _end_it(self) -> None:
        if self._process is not None and self._start is not None:
            closing = asyncio.create_task(_close(self._process, self._start))
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
            self._process = self._start = None


async def _close(process: Supervisor, start: asyncio.Task[None]) -> None:
    await process.close()
    await asyncio.gather(start, return_exceptions=True)
