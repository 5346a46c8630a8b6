"""Grammars are compiled in a thread beside the step loop.

GenAI 2026.4.1: within a step they would stop every request for seconds (decision 005).
"""

import itertools
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from openvino_genai import Tokenizer

from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline

# GenAI 2026.4.1: the tokenizer keeps what was ever compiled for it, a quarter of a megabyte each (decision 006).
MOST_COMPILED = 1000


class GrammarCompiler:
    """Says which requests the pipeline may have.

    What the pipeline does with a grammar at a request's first token may not happen while another one is compiled: its
    notes on that are unguarded (GenAI 2026.4.1). So they take turns, and so do clients: who brings many grammars waits
    for itself.
    """

    def __init__(self, tokenizer: Callable[[], Tokenizer]) -> None:
        self._tokenizer = tokenizer
        self._dummy: DummyPipeline | None = None
        self._thread = ThreadPoolExecutor(1)
        self._work: tuple[LoweredConstraint, Future[None]] | None = None
        self._compiled: dict[LoweredConstraint, RuntimeError | None] = {}
        self._first_token_due: set[int] = set()
        self._asked: dict[str, LoweredConstraint] = {}  # by client, the first one since something was compiled
        self._turns: Counter[str] = Counter()  # when it was a client's, the last time
        self._turn = itertools.count(1)

    @property
    def full(self) -> bool:
        """Tells whether so much was compiled that the pipeline should be replaced."""
        return len(self._compiled) >= MOST_COMPILED

    def admits(self, request: Generate) -> bool:
        """Tells whether the pipeline may have the request; if not, ask again after `compile_next`.

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
        self._asked.setdefault(request.client, request.lowered)
        return False

    def compile_next(self) -> None:
        """Begins with a grammar of those that were asked for, if none is under way."""
        asked, self._asked = self._asked, {}
        if asked and not self._first_token_due and not self._busy():
            client = min(asked, key=lambda each: self._turns[each])
            self._turns[client] = next(self._turn)
            self._work = asked[client], self._thread.submit(self._compile, asked[client])

    def began(self, id: int) -> None:
        """Notes that the request has its first token, or will have none."""
        self._first_token_due.discard(id)

    def wait(self, seconds: float) -> None:
        """Waits for what is being compiled, if anything."""
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
