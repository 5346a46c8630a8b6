"""Grammars are compiled in a thread beside the step loop.

GenAI 2026.4.1: within a step they would stop every request for seconds (decision 005).
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from openvino_genai import Tokenizer

from specvino.engine.grammar.structured_output import Form
from specvino.engine.openvino.messages.worker import Generate
from specvino.engine.openvino.native.dummy_pipeline import Stub

# GenAI 2026.4.1: the tokenizer keeps what was ever compiled for it, a quarter of a megabyte each (decision 006).
MOST_COMPILED = 1000


class Compiler:
    """Says which requests the pipeline may have.

    What the pipeline does with a grammar at a request's first token may not happen while another one is compiled: its
    notes on that are unguarded. So they take turns.
    """

    def __init__(self, tokenizer: Callable[[], Tokenizer]) -> None:
        self._tokenizer = tokenizer
        self._stub: Stub | None = None
        self._thread = ThreadPoolExecutor(1)
        self._work: tuple[Form, Future[None]] | None = None
        self._compiled: dict[Form, RuntimeError | None] = {}
        self._first_token_due: set[int] = set()

    @property
    def full(self) -> bool:
        """There is so much that the pipeline should be replaced."""
        return len(self._compiled) >= MOST_COMPILED

    def admits(self, request: Generate) -> bool:
        """If False, it shall ask again later. Raises RuntimeError if the grammar doesn't compile."""
        if request.form is None:
            return True
        if self._busy():
            return False
        if request.form in self._compiled:
            if error := self._compiled[request.form]:
                raise error
            self._first_token_due.add(request.id)
            return True
        if not self._first_token_due:
            self._work = request.form, self._thread.submit(self._compile, request.form)
        return False

    def began(self, id: int) -> None:
        """The request has its first token, or will have none."""
        self._first_token_due.discard(id)

    def wait(self, seconds: float) -> None:
        """Waits for what is being compiled, if anything."""
        if self._work is not None:
            wait([self._work[1]], seconds)

    def _busy(self) -> bool:
        if self._work is None:
            return False
        form, done = self._work
        if not done.done():
            return True
        self._work = None
        error = done.exception()
        self._compiled[form] = None if error is None else RuntimeError(str(error))
        return False

    def _compile(self, form: Form) -> None:
        if self._stub is None:
            self._stub = Stub(self._tokenizer())
        self._stub.generate(form, 1)
