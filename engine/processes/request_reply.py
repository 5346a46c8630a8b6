"""A child process that answers one question after the other."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from specvino.engine.errors import EngineError, EngineUnavailable, ModelLoadError
from specvino.engine.processes.losses import log_lost
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.processes.turns import Turns
from specvino.engine.protocol import CLIENT, REQUEST

# Questions that may wait.
MOST_WAITING = 64

_RETRY_AFTER = 5  # seconds


class ProcessCrashed(EngineError):
    """The question made two processes crash."""


class QuestionDropped(EngineError):
    """Nobody waited for the answer when the question's turn came."""


@dataclass(eq=False, slots=True)
class _Question:
    message: msgspec.Struct
    answer: asyncio.Future[Any]
    wanted: Callable[[], bool]
    request: str
    losses: int = 0

    def is_wanted(self) -> bool:
        """Returns whether a request waits for the answer."""
        return self.wanted() and not self.answer.done()

    def fail(self, error: EngineError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class RequestReplyClient:
    """Sends questions to a child process, which is started with the first one, or by `start`. Questions and answers
    have an `id`. Questions wait here, not in the child, so that abandoned ones are never asked, and clients take turns
    (`CLIENT`), as do the requests of a client. If the process is lost, the question is asked again, since it may not be
    the cause. If the next process is lost, too, `ask` raises ProcessCrashed, or EngineUnavailable if the process was
    killed from outside. It also raises EngineUnavailable for a question that isn't answered in `deadline` seconds, and
    if too many wait.
    """

    def __init__(self, name: str, module: str, settings: msgspec.Struct, answers: Any, deadline: float) -> None:
        self._name = name
        self._deadline = deadline
        self._ids = itertools.count()
        self._turns: Turns[_Question] = Turns(MOST_WAITING)
        self._asked: _Question | None = None
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
            busy=lambda: self._asked is not None,
            stall_timeout=deadline,
        )

    async def start(self) -> None:
        """Starts the process and returns when it is ready. Raises ModelLoadError."""
        self._start = asyncio.create_task(self.process.start())
        await self._start

    async def ask(
        self,
        question: Callable[[int], msgspec.Struct],
        wanted: Callable[[], bool] = lambda: True,
        cost: float = 1,
    ) -> Any:
        """Returns the answer to a question; `question` makes the message from an id. Of a client's questions, one that
        costs little is asked before those that cost much. Raises EngineUnavailable, ProcessCrashed, and QuestionDropped
        if it isn't `wanted` any more when its turn comes.
        """
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        asked = _Question(question(next(self._ids)), answer, wanted, REQUEST.get())
        displaced = self._turns.add(CLIENT.get(), asked.request, asked, cost)
        if displaced is not None:
            busy = f"Too many requests are waiting for the {self._name} process."
            displaced.fail(EngineUnavailable(busy, retry_after=_RETRY_AFTER))
        if self._start is None:
            self._start = asyncio.create_task(self._run())
        self._ask_next()
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

    def _ask_next(self) -> None:
        while self._loaded and self._asked is None and not self.process.ending:
            question = self._turns.take()
            if question is None:
                return
            if question.is_wanted():
                self._asked = question
                self.process.send(question.message)
            else:
                question.fail(QuestionDropped("Nobody waits for the answer."))

    def _ready(self) -> None:
        self._loaded = True
        if self._asked is not None:
            self.process.send(self._asked.message)
        self._ask_next()

    def _receive(self, message: Any) -> None:
        assert self._asked is not None
        answer, self._asked = self._asked.answer, None
        if not answer.done():
            answer.set_result(message)
        self._ask_next()

    def _lost(self, reason: str, stalled: bool) -> None:
        self._loaded = False
        lost = self._asked
        if lost is None:
            return
        lost.losses += 1
        log_lost(self._name, type(lost.message).__name__, lost.request)
        if lost.losses < 2 and not stalled and lost.is_wanted():
            return  # the next process is asked again
        self._asked = None
        if self.process.crashed:
            lost.fail(ProcessCrashed(f"It crashed the {self._name} process."))
        else:
            how = f"took more than {self._deadline:g} s: the server is busy" if stalled else "failed"
            message = f"The work of the {self._name} process {how}."
            lost.fail(EngineUnavailable(message, retry_after=_RETRY_AFTER))

    def _fail(self, error: EngineUnavailable) -> None:
        for question in filter(None, [self._asked, *self._turns.clear()]):
            question.fail(error)
        self._asked = None
