"""Keeps one child running: starts it, detects if it dies or hangs, and restarts it."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.processes.channel import Channel, Failed, Ready
from specvino.engine.processes.spawn import Child, spawn
from specvino.engine.processes.stall_watch import StallWatch

if TYPE_CHECKING:
    from specvino.engine.protocol import State

log = logging.getLogger(__name__)

_FIRST_DELAY = 0.5  # seconds before the second consecutive restart, doubled for each further one
_LONGEST_DELAY = 30.0
_LONGEST_LOAD = 1800.0  # seconds; a big model from a slow disk takes minutes
_STABLE = 60.0  # uptime in seconds after which the delays start again


class Supervisor:
    """Runs `python -m module`, a module that calls `child.run`, and passes its messages to `on_message`.

    `settings` is the first message to each new child. While `busy()` returns that the child has pending work, a silence
    of `stall_timeout` seconds means that it hangs, and it is killed. A child that computes may be silent for
    `silent_work` seconds of CPU time: a long step isn't a stall, even on a busy machine. `on_lost(reason, stalled)` is
    called whenever a child that was ready is lost, together with all messages that were sent to it. `on_ready` is
    called for each child that is ready.

    A child that is lost during its work is replaced immediately. If children are repeatedly lost before any work, the
    delay grows.
    """

    def __init__(
        self,
        name: str,
        module: str,
        settings: msgspec.Struct,
        *,
        incoming: Any,
        on_message: Callable[[Any], None],
        on_lost: Callable[[str, bool], None],
        busy: Callable[[], bool],
        stall_timeout: float,
        on_ready: Callable[[], None] = lambda: None,
        quiet: bool = False,
        silent_work: float = 0.0,
    ) -> None:
        self.state: State = "loading"
        self.restarts = 0
        self.crashed = False  # the last child ended through its own fault
        self.failing = False  # the last child was lost before any work, and the next one isn't ready
        self._name = name
        self._module = module
        self._settings = settings
        self._decoder = msgspec.msgpack.Decoder(Ready | Failed | incoming)
        self._on_message = on_message
        self._on_lost = on_lost
        self._on_ready = on_ready
        self._busy = busy
        self._stall_timeout = stall_timeout
        self._quiet = quiet
        self._stall_watch = StallWatch(stall_timeout, silent_work)
        self._child: Child | None = None
        self._task: asyncio.Task[None] | None = None
        self._loaded: asyncio.Future[None] | None = None
        self._failure: str | None = None  # the reason that the current child reported for its end
        self._worked = False  # the current child has sent an answer, or was lost with pending work
        self._started_at = 0.0  # monotonic, like all times here
        self._load_seconds = 1.0
        self._ready_by = 0.0

    @property
    def pid(self) -> int | None:
        """Returns the child's process id, None while there is none."""
        return self._child.pid if self._child else None

    @property
    def ending(self) -> bool:
        """Returns whether the child has announced its end, so that messages to it are lost."""
        return self._failure is not None

    async def start(self) -> None:
        """Starts the child and returns when it is ready; also after `close`. Raises ModelLoadError."""
        self.state = "loading"
        self._loaded = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep_running())
        await self._loaded

    def check_ready(self) -> None:
        """Raises EngineUnavailable unless the child is ready."""
        if self.state == "closed":
            raise EngineUnavailable("The server is shutting down.", retry_after=1)
        if self.state != "ready":
            left = self._ready_by - time.monotonic()
            raise EngineUnavailable(f"The model is {self.state}.", retry_after=max(1, round(left + 0.5)))

    def send(self, message: msgspec.Struct | msgspec.Raw) -> None:
        """Sends a message. Messages to a lost child are dropped: `on_lost` reports it."""
        if self._child:
            self._child.channel.send(message)

    async def close(self) -> None:
        """Ends the child, without calling `on_lost`."""
        self.state = "closed"
        if self._task:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _keep_running(self) -> None:
        assert self._loaded is not None
        deaths = 0
        try:
            while True:
                self._started_at = time.monotonic()
                try:
                    reason = await self._run_once()
                except OSError as error:
                    reason = str(error)
                if not self._loaded.done():
                    self.state = "closed"
                    self._loaded.set_exception(ModelLoadError(reason))
                    return
                self.failing = not self._worked
                if self._worked or time.monotonic() - self._started_at > _STABLE:
                    deaths = 0
                deaths += 1
                delay = min(_FIRST_DELAY * 2 ** (deaths - 2), _LONGEST_DELAY) if deaths > 1 else 0.0
                self._ready_by = time.monotonic() + delay + self._load_seconds
                self.restarts += 1
                log.warning("%s; starting the %s process again in %.1f s", reason, self._name, delay)
                await asyncio.sleep(delay)
        finally:
            self._loaded.cancel()

    async def _run_once(self) -> str:
        """Runs one child to its end and returns how it ended."""
        closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        channel = Channel(self._decoder, self._receive, on_closed=lambda: closed.set_result(None))
        self._failure = None
        self._worked = False
        child = self._child = await spawn(self._name, self._module, channel, self._quiet)
        stalled = False
        try:
            channel.send(self._settings)
            stalled = await self._watch(closed)
        finally:
            was_ready = self.state == "ready"
            if was_ready:
                self.state = "restarting"
                self._worked |= self._busy()
            self._child = None
            how, self.crashed = await child.end()
        if stalled:
            how = f"was silent for {self._stall_timeout:g} s"
        reason = self._failure or f"the {self._name} process {how}"
        if was_ready:
            self._on_lost(reason, stalled)
        return reason

    async def _watch(self, closed: asyncio.Future[None]) -> bool:
        """Waits until the child is lost; returns whether it hung."""
        while not closed.done():
            await asyncio.wait([closed], timeout=self._stall_timeout / 10)
            if self.state != "ready":
                if time.monotonic() - self._started_at > self._load_deadline():
                    return True
            elif not self._busy():
                self._stall_watch.heard()
            elif self._stall_watch.stalled(self._child.pid if self._child else 0):
                return True
        return False

    def _load_deadline(self) -> float:
        """Returns how long a child may load (seconds): ten times as long as the previous one, if there was one."""
        return max(self._stall_timeout, 10 * self._load_seconds) if self.state == "restarting" else _LONGEST_LOAD

    def _receive(self, message: Any) -> None:
        self._stall_watch.heard()
        if type(message) is Ready:
            self._load_seconds = time.monotonic() - self._started_at
            self.state = "ready"
            self.failing = False
            assert self._loaded is not None
            if not self._loaded.done():
                self._loaded.set_result(None)
            self._on_ready()
        elif type(message) is Failed:
            self._failure = message.reason
        else:
            self._worked = self.state == "ready"
            self._on_message(message)
