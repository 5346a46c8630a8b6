"""The queue of what the worker has sent for one request, until the request takes it."""

import asyncio

from specvino.engine.openvino.messages.worker import Output
from specvino.engine.processes.supervisor import Supervisor


class OutputQueue:
    """Holds outputs of a `worker` for one taker.

    A plain queue would cost a future and a switch of tasks for each output.
    """

    def __init__(self, worker: Supervisor) -> None:
        self.worker = worker
        self._outputs: list[Output] = []
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def put(self, output: Output) -> None:
        self._outputs.append(output)
        self._wake()

    def fail(self, error: Exception) -> None:
        """Makes `take` raise this after the outputs that came before."""
        self._error = error
        self._wake()

    async def take(self) -> list[Output]:
        """Waits for outputs and returns all there are."""
        if not self._outputs and self._error is None:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if not self._outputs:
            assert self._error is not None
            raise self._error
        outputs, self._outputs = self._outputs, []
        return outputs

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
