"""The trial process: it compiles and tries constraints that only XGrammar can read, on a pipeline without a model.

Our own grammars need no trial: they compile, and their cost is known. A client's grammar may be invalid, use all
memory, or take so long at each token that it slows down all other requests.
"""

import itertools
import re
import time

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.messages.grammar import (
    ConstraintRefused,
    LoadDummyPipeline,
    Trial,
    TrialPassed,
    constraint_refused,
)
from specvino.engine.openvino.native.bounded_work import bounded
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline
from specvino.engine.openvino.native.error_output import silence
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready

# The CPU time of a token is compared with that of a plain string, on the same machine at the same time.
_PLAIN = LoweredConstraint("grammar", 'root ::= "\\"" any\nany ::= "\\"" | [a-zA-Z0-9 .,-] any\n')

# The limit, as a multiple of a plain string's CPU time: all other requests wait for it at each step. An ordinary schema
# takes up to twice as much, a rule that ends after each character fifty times.
SLOWEST = 20

_TRIAL_TOKENS = 64
_MEASUREMENTS = 3

# If these tokens are all token 0, the grammar allows nothing.
_FIRST_TOKENS = 8

_WHERE = re.compile(r"^(Exception from .*|\[[\d:]+\] \S+: )", re.MULTILINE)
_PREFIX = re.compile(r"^(Failed to create grammar from structural tag: )?(Invalid structural tag error: )?")


def check(dummy: DummyPipeline, lowered: LoweredConstraint) -> None:
    """Tries a constraint. Raises ConstraintError, and MemoryError if there isn't enough memory."""
    try:
        first = dummy.generate(lowered, _FIRST_TOKENS)
        times = _least(dummy, lowered) / _least(dummy, _PLAIN)
    except RuntimeError as error:
        if "bad_alloc" in str(error):
            raise MemoryError from None
        raise ConstraintError(reason(error)) from None
    if times > SLOWEST:
        raise ConstraintError(
            f"each token takes {times:.0f} times the CPU time of a plain string's; the limit is {SLOWEST} times. Rules "
            "that end after each character, and long counted repetitions, are slow"
        )
    if len(first) == _FIRST_TOKENS and not any(first):
        raise ConstraintError("it allows no text at all")


def _least(dummy: DummyPipeline, lowered: LoweredConstraint) -> float:
    """Returns the least of some measurements: a busy machine, with shared caches and cores, only adds to it."""
    dummy.generate(lowered, 1)  # compiles it
    return min(_computing(dummy, lowered) for _ in range(_MEASUREMENTS))


def _computing(dummy: DummyPipeline, lowered: LoweredConstraint) -> float:
    """Returns seconds of CPU time per token."""
    begin = time.process_time()
    tokens = dummy.generate(lowered, _TRIAL_TOKENS, draw=True)
    return (time.process_time() - begin) / len(tokens)


def reason(error: Exception) -> str:
    """Returns the compiler's message, in one line and without the names of its files."""
    text = " ".join(_WHERE.sub("", str(error)).split())
    return _PREFIX.sub("", text)[:500].rstrip(".") or type(error).__name__


# GenAI 2026.4.1: a tokenizer keeps all grammars that were compiled for it; then it is replaced (decision 006).
MOST_COMPILED = 500

_MOST_MEMORY = 4 << 30  # bytes, in addition to the memory after loading


class MemoryUsedUp(Exception):
    """There wasn't enough memory, but earlier trials use a part of it."""


def answer(dummy: DummyPipeline, question: Trial, *, first: bool) -> TrialPassed | ConstraintRefused:
    """Returns the result of a trial. Raises MemoryUsedUp unless this is the `first` question: a new process decides
    then."""
    try:
        check(dummy, question.lowered)
    except MemoryError:
        if not first:
            raise MemoryUsedUp("earlier grammars have used up the memory") from None
        return ConstraintRefused(question.id, "compiling it takes too much memory")
    except ConstraintError as error:
        return constraint_refused(question.id, error)
    return TrialPassed(question.id)


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    dummy = DummyPipeline(load_tokenizer(settings.path))
    child.limit_memory(_MOST_MEMORY)
    channel.send(Ready())
    with silence():  # the compiler's warnings don't concern the operator
        for compiled in itertools.count(1):
            if compiled % MOST_COMPILED == 0:
                dummy = DummyPipeline(load_tokenizer(settings.path))
            question = channel.receive()
            with bounded(channel, question.id, settings.most_computing):
                reply = answer(dummy, question, first=compiled == 1)
            channel.send(reply)


if __name__ == "__main__":
    child.run(LoadDummyPipeline | Trial, work, reason)
