"""A child process that is asked one question after the other."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

import msgspec

from specvino.engine.errors import EngineUnavailable, ModelLoadError
from specvino.engine.processes.supervisor import Supervisor


class RequestReplyClient:
    """Asks a child process, which it starts with the first question. Questions and answers have an `id`; answers come
    in the order of the questions.

    A question that isn't answered in `deadline` seconds, or with which the process is lost, raises EngineUnavailable;
    those behind it are asked again.
    """

    def __init__(self, name: str, module: str, settings: msgspec.Struct, answers: Any, deadline: float) -> None:
        self._name = name
        self._deadline = deadline
        self._ids = itertools.count()
        self._owed: dict[int, tuple[msgspec.Struct, asyncio.Future[Any]]] = {}
        self._start: asyncio.Task[None] | None = None
        self._loaded = False
        self.process = Supervisor(
            name,
            module,
            settings,
            incoming=answers,
            on_message=self._receive,
            on_ready=self._ready,
            on_lost=self._lost,
            busy=lambda: bool(self._owed),
            stall_timeout=deadline,
        )

    async def ask(self, question: Callable[[int], msgspec.Struct]) -> Any:
        """Returns the answer to a question; `question` makes the message with an id. Raises EngineUnavailable."""
        id = next(self._ids)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._owed[id] = (question(id), answer)
        if self._start is None:
            self._start = asyncio.create_task(self._run())
        elif self._loaded:
            self.process.send(self._owed[id][0])
        return await answer

    async def close(self) -> None:
        if self._start is not None:
            await self.process.close()
            await asyncio.gather(self._start, return_exceptions=True)
        self._fail(EngineUnavailable("The server is shutting down.", retry_after=1))

    async def _run(self) -> None:
        try:
            await self.process.start()
        except ModelLoadError as error:
            self._start = None
            self._fail(EngineUnavailable(f"The {self._name} process: {error}", retry_after=30))

    def _ready(self) -> None:
        self._loaded = True
        for question, _ in self._owed.values():
            self.process.send(question)

    def _receive(self, message: Any) -> None:
        _, answer = self._owed.pop(message.id)
        if not answer.done():
            answer.set_result(message)

    def _lost(self, reason: str, stalled: bool) -> None:
        self._loaded = False
        if self._owed:
            _, answer = self._owed.pop(next(iter(self._owed)))
            if not answer.done():
                how = f"was not done in {self._deadline:g} s: the server is busy" if stalled else "failed"
                answer.set_exception(EngineUnavailable(f"The work of the {self._name} process {how}.", retry_after=5))

    def _fail(self, error: EngineUnavailable) -> None:
        owed, self._owed = self._owed, {}
        for _, answer in owed.values():
            if not answer.done():
                answer.set_exception(error)
