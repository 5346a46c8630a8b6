"""The grammars process: it checks what answers shall be held to, away from everything that works.

Some grammars take for ever to compile, or all memory: then this process is killed, and nothing else is lost.
"""

import itertools
import re
import resource
import time
from pathlib import Path

from openvino_genai import Tokenizer

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.forms import Form, lower
from specvino.engine.openvino.grammar_messages import Check, Checked, Loaded, LoadStub, Refused
from specvino.engine.openvino.silence import silence
from specvino.engine.openvino.stub import Stub
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready
from specvino.engine.request import JsonSchema, StructuralTag

# Seconds of computing that a token may take, on one CPU: every other request waits for it at each step.
SLOWEST = 0.06

_TRIAL_TOKENS = 64

# So many times nothing but token 0 means that nothing is allowed.
_FIRST_TOKENS = 8

# A tokenizer keeps what was ever compiled for it, about a quarter of a megabyte each. Then it is replaced.
MOST_COMPILED = 500

_MOST_MEMORY = 4 << 30  # bytes, beyond what is used when all is loaded

_WHERE = re.compile(r"^(Exception from .*|\[[\d:]+\] \S+: )", re.MULTILINE)
_PREFIX = re.compile(r"^(Failed to create grammar from structural tag: )?(Invalid structural tag error: )?")


def check(stub: Stub, request: Check) -> Form:
    """Raises ConstraintError."""
    constraint = (StructuralTag if request.structural else JsonSchema)(request.text, request.strict)
    form = lower(constraint)
    try:
        first = stub.generate(form, _FIRST_TOKENS)
        begin = time.process_time()
        tokens = stub.generate(form, _TRIAL_TOKENS, draw=True)
    except (RuntimeError, MemoryError) as error:
        raise ConstraintError(reason(error)) from None
    if (time.process_time() - begin) / len(tokens) > SLOWEST:
        raise ConstraintError("it takes too long to apply, at each token; long counted repetitions make it so")
    if len(first) == _FIRST_TOKENS and not any(first):
        raise ConstraintError("it allows no text at all")
    return form


def reason(error: Exception) -> str:
    """The compiler's words, in one line and without the names of its files."""
    if isinstance(error, MemoryError) or "bad_alloc" in str(error):
        return "compiling it takes too much memory"
    text = " ".join(_WHERE.sub("", str(error)).split())
    return _PREFIX.sub("", text)[:500].rstrip(".") or type(error).__name__


def answer(stub: Stub, request: Check) -> Checked | Refused:
    try:
        return Checked(request.id, check(stub, request))
    except ConstraintError as error:
        return Refused(request.id, str(error), error.path, error.unsupported)


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    stub = Stub(Tokenizer(settings.path))
    _limit_memory()
    channel.send(Loaded())
    channel.send(Ready())
    with silence():  # the compiler warns there of what is none of the operator's concern
        for compiled in itertools.count(1):
            if compiled % MOST_COMPILED == 0:
                stub = Stub(Tokenizer(settings.path))
            channel.send(answer(stub, channel.receive()))


def _limit_memory() -> None:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return  # only Linux tells how much is used
    used = int(statm.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MOST_MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    child.run(LoadStub | Check, work, reason)
