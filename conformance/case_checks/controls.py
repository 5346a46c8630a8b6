"""Requests for the list of models beside another request. How many are answered meanwhile is how long that takes, in
place of seconds: if client, network or server are busy, these controls wait, too."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from specvino.conformance.http.client import Leaving
from specvino.conformance.http.exchange import Exchange
from specvino.conformance.session.session import Session
from specvino.conformance.verdict import NotExercised

# The fewest seconds between the end of a control and the next one. It is also no shorter than the control, so that a
# server isn't busy with controls alone.
PAUSE = 0.01

# The largest number of controls during a request, and of those that are kept. Of KEPT controls, every other one is
# forgotten, and from then on half as many are sent: their number grows with the logarithm of the request's duration.
MOST = 400
KEPT = 100


@dataclass(frozen=True, slots=True)
class Controls:
    """The times at which controls were answered, in seconds since the request beside them. Each counts for `weight`."""

    answered: list[float]
    weight: int

    @property
    def count(self) -> int:
        """Returns the number of controls, also of those that were left out."""
        return self.weight * len(self.answered)


async def beside(
    session: Session, request: Coroutine[Any, Any, Exchange], *, leaving: Leaving | None = None, after: int = MOST
) -> tuple[Exchange, Controls]:
    """Sends controls while a request is answered. Returns its exchange, and the controls. With `leaving`, the client
    leaves the exchange after that many controls. Raises NotExercised if a control fails, or if they are too many."""

    async def sent() -> tuple[Exchange, float]:
        exchange = await request
        return exchange, time.monotonic() - exchange.seconds

    running = asyncio.create_task(sent())
    try:
        async with session.controls() as control:
            answered, weight = await _answered(control, running, after if leaving else None)
        if leaving:
            leaving.leave()
        exchange, begun = await running
        return exchange, Controls([at - begun for at in answered], weight)
    finally:
        running.cancel()  # if the run is interrupted, or without a verdict


async def _answered(
    control: Callable[[], Awaitable[int | None]], running: asyncio.Task[Any], enough: int | None
) -> tuple[list[float], int]:
    """Returns the monotonic times of controls until the task is done, or they are enough, and the weight of each."""
    answered: list[float] = []
    weight, interval = 1, 0.0
    for _ in range(MOST):
        if running.done() or (enough is not None and weight * len(answered) >= enough):
            return answered, weight
        begun = time.monotonic()
        if (status := await control()) != 200:
            raise NotExercised(f"the list of models, asked for meanwhile, is {status or 'no answer'}, not 200")
        answered.append(time.monotonic())
        took = answered[-1] - begun
        if len(answered) == KEPT:
            answered = answered[1::2]
            weight, interval = 2 * weight, (answered[-1] - answered[0]) / (len(answered) - 1)
        await asyncio.wait([running], timeout=max(PAUSE, took, interval - took))
    raise NotExercised(f"the answer takes longer than {MOST} other requests")
