"""Unloading a model that is idle, and loading it again for the next request."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path

from specvino.engine.errors import EngineUnavailable, ModelLoadError

_RETRY_AFTER = 30  # seconds

_log = logging.getLogger(__name__)


class Idling:
    """Calls `unload` after `seconds` without requests (never if that is None), and `load` for the next one.

    `load` may raise ModelLoadError: the next request tries it again. `ready` returns whether what is loaded works; it
    isn't unloaded otherwise. The log names the `model`.
    """

    def __init__(
        self,
        model: Path,
        seconds: float | None,
        *,
        load: Callable[[], Awaitable[None]],
        unload: Callable[[], Coroutine[None, None, None]],
        ready: Callable[[], bool],
    ) -> None:
        self.unloaded = False
        self._model = model
        self._seconds = seconds
        self._load = load
        self._unload = unload
        self._ready = ready
        self._requests = 0
        self._timer: asyncio.TimerHandle | None = None
        self._change: asyncio.Task[None] | None = None  # loading or unloading
        self._closed = False

    def begin(self) -> None:
        """Starts the time until the model is idle, if there is no request."""
        if self._seconds is not None and not (self._requests or self.unloaded or self._closed):
            self._stop()
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

    @contextmanager
    def request(self) -> Iterator[None]:
        """The model isn't idle within this context."""
        self._requests += 1
        self._stop()
        try:
            yield
        finally:
            self._requests -= 1
            self.begin()

    async def loaded(self) -> None:
        """Returns when the model is loaded. To be called within `request`. Raises EngineUnavailable."""
        while self.unloaded:
            if self._closed:
                raise EngineUnavailable("The server is shutting down.", retry_after=1)
            if self._change is None or self._change.done():
                self._change = asyncio.create_task(self._load_again())
            try:
                await asyncio.shield(self._change)  # a request that is cancelled doesn't cancel it for the others
            except asyncio.CancelledError:
                if not self._closed:
                    raise

    async def close(self) -> None:
        """Ends the waiting of requests with EngineUnavailable."""
        self._closed = True
        self._stop()
        if self._change is not None:
            self._change.cancel()
            await asyncio.wait([self._change])

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        if self._ready():
            _log.info("%s: unloaded, as there was no request for %g s", self._model, self._seconds)
            self.unloaded = True  # from here on requests wait
            self._change = asyncio.create_task(self._unload())
        else:
            self.begin()

    async def _load_again(self) -> None:
        try:
            await self._load()
        except ModelLoadError as error:
            raise EngineUnavailable(f"The model can't be loaded: {error}", _RETRY_AFTER) from error
        _log.info("%s: loaded again", self._model)
        self.unloaded = False
        self.begin()  # all requests that wanted it may have left
