"""When a request was sent to the worker, begun there, had its first token and its last."""

import time
from collections.abc import Callable, Sequence

from specvino.engine.openvino.messages.worker import Output
from specvino.engine.segments import Phases


class RequestTimes:
    """Follows the outputs of one request from the moment when it is sent. `clock` is for tests.

    The worker tells when it began by the monotonic clock, which is that of the whole machine.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sent = clock()
        self._begun: float | None = None  # the first of its choices
        self._first = self._last = 0.0

    def push(self, outputs: Sequence[Output]) -> None:
        """Notes that outputs came, of which the first ones tell when their choices began."""
        self._last = self._clock()
        if self._begun is None:
            self._begun = next((output.begun for output in outputs if output.begun is not None), None)
            self._first = self._last

    @property
    def phases(self) -> Phases | None:
        """Returns how long each phase took so far; None where nothing began."""
        if self._begun is None:
            return None
        return Phases(self._begun - self._sent, self._first - self._begun, self._last - self._first)
