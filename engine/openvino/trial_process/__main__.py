"""The trial process tries one constraint after the other, until the server goes."""

import itertools

from specvino.engine.errors import ConstraintError
from specvino.engine.openvino.messages.grammar import (
    ConstraintRefused,
    LoadDummyPipeline,
    Trial,
    TrialPassed,
    constraint_refused,
)
from specvino.engine.openvino.native.dummy_pipeline import DummyPipeline
from specvino.engine.openvino.native.refused_work import bounded
from specvino.engine.openvino.native.silence import silence
from specvino.engine.openvino.native.tokenizer import load_tokenizer
from specvino.engine.openvino.trial_process.trial import check, reason
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready

# GenAI 2026.4.1: a tokenizer keeps what was ever compiled for it; then it is replaced (decision 006).
MOST_COMPILED = 500

_MOST_MEMORY = 4 << 30  # bytes, beyond what is used when all is loaded


class MemoryUsedUp(Exception):
    """The memory didn't suffice, but earlier trials had a part of it."""


def answer(dummy: DummyPipeline, question: Trial, *, first: bool) -> TrialPassed | ConstraintRefused:
    """Raises MemoryUsedUp unless this is the `first` question: a process of its own decides it."""
    try:
        check(dummy, question.lowered)
    except MemoryError:
        if not first:
            raise MemoryUsedUp("earlier grammars have used the memory up") from None
        return ConstraintRefused(question.id, "compiling it takes too much memory")
    except ConstraintError as error:
        return constraint_refused(question.id, error)
    return TrialPassed(question.id)


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    dummy = DummyPipeline(load_tokenizer(settings.path))
    child.limit_memory(_MOST_MEMORY)
    channel.send(Ready())
    with silence():  # the compiler warns there of what is none of the operator's concern
        for compiled in itertools.count(1):
            if compiled % MOST_COMPILED == 0:
                dummy = DummyPipeline(load_tokenizer(settings.path))
            question = channel.receive()
            with bounded(channel, question.id, settings.most_computing):
                answered = answer(dummy, question, first=compiled == 1)
            channel.send(answered)


if __name__ == "__main__":
    child.run(LoadDummyPipeline | Trial, work, reason)
