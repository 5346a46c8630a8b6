"""Compiles grammars in a thread, in parallel to the steps. GenAI 2026.4.1 would compile them within a step, which
blocks all requests for seconds (decision 005).
"""

import itertools
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from openvino_genai import Tokenizer

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline

# GenAI 2026.4.1: the tokenizer keeps all grammars that were compiled for it, a quarter of a megabyte each
# (decision 006).
MOST_COMPILED = 1000


class GrammarCompiler:
    """Compiles the grammars of requests, and decides which requests the pipeline may get.

    The first token of a request with a grammar must not be generated while another grammar is compiled: they share
    state without a lock (GenAI 2026.4.1). So they alternate. Clients take turns, so that one with many grammars only
    delays itself.
    """

    def __init__(self, tokenizer: Callable[[], Tokenizer]) -> None:
        self._tokenizer = tokenizer
        self._dummy: DummyPipeline | None = None
        self._thread = ThreadPoolExecutor(1)
        self._work: tuple[LoweredConstraint, Future[None]] | None = None
        self._compiled: dict[LoweredConstraint, RuntimeError | None] = {}
        self._first_token_due: set[int] = set()
        self._waiting: dict[str, LoweredConstraint] = {}  # by client, the first grammar since the last compilation
        self._turns: Counter[str] = Counter()  # by client, the number of its last turn
        self._turn = itertools.count(1)

    @property
    def full(self) -> bool:
        """Returns whether the pipeline should be replaced because of the number of compiled grammars."""
        return len(self._compiled) >= MOST_COMPILED

    def admits(self, request: Generate) -> bool:
        """Returns whether the pipeline may get the request; if not, call again after `compile_next`.

        Raises RuntimeError if the grammar doesn't compile.
        """
        if request.lowered is None:
            return True
        if self._busy():
            return False
        if request.lowered in self._compiled:
            if error := self._compiled[request.lowered]:
                raise error
            self._first_token_due.add(request.id)
            return True
        self._waiting.setdefault(request.client, request.lowered)
        return False

    def compile_next(self) -> None:
        """Starts compiling the next grammar that requests wait for, unless one is being compiled."""
        waiting, self._waiting = self._waiting, {}
        if waiting and not self._first_token_due and not self._busy():
            client = min(waiting, key=lambda client: self._turns[client])
            self._turns[client] = next(self._turn)
            self._work = waiting[client], self._thread.submit(self._compile, waiting[client])

    def began(self, id: int) -> None:
        """Records that a request has its first token, or has ended."""
        self._first_token_due.discard(id)

    def wait(self, seconds: float) -> None:
        """Waits for the end of the current compilation, if there is one, at most `seconds`."""
        if self._work is not None:
            wait([self._work[1]], seconds)

    def _busy(self) -> bool:
        if self._work is None:
            return False
        lowered, done = self._work
        if not done.done():
            return True
        self._work = None
        error = done.exception()
        self._compiled[lowered] = None if error is None else RuntimeError(str(error))
        return False

    def _compile(self, lowered: LoweredConstraint) -> None:
        if self._dummy is None:
            self._dummy = DummyPipeline(self._tokenizer())
        self._dummy.generate(lowered, 1)
