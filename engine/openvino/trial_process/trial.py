"""The trial process: what only XGrammar can read is compiled and tried here, away from everything that works.

Grammars of ours need no trial: they compile, and how much work they are is known. What a client writes in XGrammar's
own words may be wrong, take all memory, or take so long at each token that all others wait for it.
"""

import re
import time

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar import LoweredConstraint
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline

# What a token takes is compared with what one of a plain string takes, on the same machine at the same time.
_PLAIN = LoweredConstraint("grammar", 'root ::= "\\"" any\nany ::= "\\"" | [a-zA-Z0-9 .,-] any\n')

# So many times the computing of a plain string: every other request waits for it at each step. An ordinary schema
# takes up to twice as much, a rule that ends behind each character fifty times.
SLOWEST = 20

_TRIAL_TOKENS = 64
_MEASUREMENTS = 3

# So many times nothing but token 0 means that nothing is allowed.
_FIRST_TOKENS = 8

_WHERE = re.compile(r"^(Exception from .*|\[[\d:]+\] \S+: )", re.MULTILINE)
_PREFIX = re.compile(r"^(Failed to create grammar from structural tag: )?(Invalid structural tag error: )?")


def check(dummy: DummyPipeline, lowered: LoweredConstraint) -> None:
    """Tries a constraint. Raises ConstraintError, and MemoryError where memory doesn't suffice."""
    try:
        first = dummy.generate(lowered, _FIRST_TOKENS)
        times = _least(dummy, lowered) / _least(dummy, _PLAIN)
    except RuntimeError as error:
        if "bad_alloc" in str(error):
            raise MemoryError from None
        raise ConstraintError(reason(error)) from None
    if times > SLOWEST:
        raise ConstraintError(
            f"each token takes {times:.0f} times the work of a plain string's, accepted is {SLOWEST} times: rules that "
            "end behind each character make it so, and long counted repetitions"
        )
    if len(first) == _FIRST_TOKENS and not any(first):
        raise ConstraintError("it allows no text at all")


def _least(dummy: DummyPipeline, lowered: LoweredConstraint) -> float:
    """Returns the least of some measurements: what a busy machine adds, by shared caches and cores, isn't the
    grammar's."""
    dummy.generate(lowered, 1)  # it is compiled
    return min(_computing(dummy, lowered) for _ in range(_MEASUREMENTS))


def _computing(dummy: DummyPipeline, lowered: LoweredConstraint) -> float:
    """Returns seconds of CPU time per token."""
    begin = time.process_time()
    tokens = dummy.generate(lowered, _TRIAL_TOKENS, draw=True)
    return (time.process_time() - begin) / len(tokens)


def reason(error: Exception) -> str:
    """Returns the compiler's words, in one line and without the names of its files."""
    text = " ".join(_WHERE.sub("", str(error)).split())
    return _PREFIX.sub("", text)[:500].rstrip(".") or type(error).__name__
