"""The trial process: what only XGrammar can read is compiled and tried here, away from everything that works.

Grammars of ours need no trial: they compile, and how much work they are is known. What a client writes in XGrammar's
own words may be wrong, take all memory, or take so long at each token that all others wait for it.
"""

import re
import time

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structured_output import LoweredConstraint
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline

# What a token takes is compared with what one of a plain string takes, on the same machine at the same time.
_PLAIN = LoweredConstraint("grammar", 'root ::= "\\"" any\nany ::= "\\"" | [a-zA-Z0-9 .,-] any\n')

# So many times the computing of a plain string: every other request waits for it at each step. An ordinary schema
# takes up to twice as much, a rule that ends behind each character fifty times.
SLOWEST = 20

_TRIAL_TOKENS = 64

# So many times nothing but token 0 means that nothing is allowed.
_FIRST_TOKENS = 8

_WHERE = re.compile(r"^(Exception from .*|\[[\d:]+\] \S+: )", re.MULTILINE)
_PREFIX = re.compile(r"^(Failed to create grammar from structural tag: )?(Invalid structural tag error: )?")


def check(dummy: DummyPipeline, lowered: LoweredConstraint) -> None:
    """Tries a constraint. Raises ConstraintError."""
    try:
        first = dummy.generate(lowered, _FIRST_TOKENS)
        # Twice, as a single measurement may have been disturbed.
        times = min(_computing(dummy, lowered) / _computing(dummy, _PLAIN) for _ in range(2))
    except (RuntimeError, MemoryError) as error:
        raise ConstraintError(reason(error)) from None
    if times > SLOWEST:
        raise ConstraintError(
            f"each token takes {times:.0f} times the work of a plain string's, accepted is {SLOWEST} times: rules that "
            "end behind each character make it so, and long counted repetitions"
        )
    if len(first) == _FIRST_TOKENS and not any(first):
        raise ConstraintError("it allows no text at all")


def _computing(dummy: DummyPipeline, lowered: LoweredConstraint) -> float:
    """Returns seconds of CPU time per token."""
    dummy.generate(lowered, 1)  # it is compiled
    begin = time.process_time()
    tokens = dummy.generate(lowered, _TRIAL_TOKENS, draw=True)
    return (time.process_time() - begin) / len(tokens)


def reason(error: Exception) -> str:
    """Returns the compiler's words, in one line and without the names of its files."""
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):
        return "compiling it takes too much memory"
    text = " ".join(_WHERE.sub("", str(error)).split())
    return _PREFIX.sub("", text)[:500].rstrip(".") or type(error).__name__
