"""The server's side of the prepare process."""

import asyncio
import itertools

from specvino.engine.errors import ContextLengthExceeded, EngineRestarted, EngineUnavailable, PromptError
from specvino.engine.models.source import ModelSource
from specvino.engine.openvino.messages import (
    FromPrepare,
    LoadTokenizer,
    Prepare,
    Prepared,
    PromptRefused,
    PromptTooLong,
    Vocabulary,
)
from specvino.engine.processes.supervisor import Supervisor
from specvino.engine.request import Conversation

Answer = Prepared | PromptTooLong | PromptRefused


class PrepareClient:
    """The process answers one request after the other: a silence of `deadline` seconds is the first one's fault.

    When it is lost, the requests behind that one fail with EngineRestarted; they aren't sent again.
    """

    def __init__(self, source: ModelSource, deadline: float) -> None:
        self.byte_table: list[bytes] | None = None
        self._context_length = source.context_length
        self._deadline = deadline
        self._ids = itertools.count()
        self._owed: dict[int, asyncio.Future[Answer]] = {}  # in the order of their sending
        self.process = Supervisor(
            "prepare",
            "specvino.engine.openvino.prepare",
            LoadTokenizer(str(source.path)),
            incoming=FromPrepare,
            on_message=self._receive,
            on_lost=self._lost,
            busy=lambda: bool(self._owed),
            stall_timeout=deadline,
            quiet=True,  # the template engine writes parts of templates and messages to stderr
        )

    async def prepare(self, prompt: Conversation) -> bytes:
        """Returns the prompt's token ids. Raises PromptError, EngineUnavailable, EngineRestarted."""
        self.process.check_ready()
        id = next(self._ids)
        self.process.send(Prepare(id, prompt))  # first: a prompt that can't be encoded mustn't leave a debt
        self._owed[id] = asyncio.get_running_loop().create_future()
        answer = await self._owed[id]
        if isinstance(answer, PromptRefused):
            raise PromptError(f"The model's chat template refuses these messages: {answer.reason}")
        if isinstance(answer, PromptTooLong):
            raise ContextLengthExceeded(answer.tokens, None, min(answer.limit, self._context_length))
        return answer.token_ids

    async def close(self) -> None:
        await self.process.close()
        for answer in self._owed.values():
            if not answer.done():
                answer.set_exception(EngineUnavailable("The server is shutting down.", retry_after=1))

    def _receive(self, message: FromPrepare) -> None:
        if isinstance(message, Vocabulary):
            self.byte_table = message.table
            return
        answer = self._owed.pop(message.id)
        if not answer.done():  # it is done if its request was cancelled meanwhile
            answer.set_result(message)

    def _lost(self, reason: str, stalled: bool) -> None:
        owed, self._owed = self._owed, {}
        for place, answer in enumerate(owed.values()):
            if answer.done():
                continue
            if stalled and place == 0:
                answer.set_exception(PromptError(f"Preparing the prompt took longer than {self._deadline:g} s."))
            else:
                answer.set_exception(EngineRestarted(f"The request was lost: {reason}."))
