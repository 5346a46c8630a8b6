"""The grammar process: schemas and structural tags become grammars, away from the server's event loop.

It needs no OpenVINO, so it is there within half a second, also where it has to be replaced.
"""

import json

from specvino.engine.errors import ConstraintError
from specvino.engine.openvino.messages.grammar import (
    ConstraintRefused,
    Lower,
    Lowered,
    StartGrammarProcess,
    constraint_refused,
)
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.openvino.native.refused_work import bounded
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready
from specvino.engine.request import JsonSchema, StructuralTag
from specvino.engine.structured_output import lower


def answer(question: Lower) -> Lowered | ConstraintRefused:
    try:
        value = json.loads(question.text)
        constraint = (StructuralTag if question.structural else JsonSchema)(value, question.strict)
        return Lowered(question.id, lower(constraint))
    except RecursionError:
        return ConstraintRefused(question.id, "it is nested too deeply")
    except ConstraintError as error:
        return constraint_refused(question.id, error)


def work(channel: BlockingChannel) -> None:
    settings = channel.receive()
    channel.send(Ready())
    while True:
        question = channel.receive()
        with bounded(channel, question.id, settings.most_computing):
            answered = answer(question)
        channel.send(answered)


if __name__ == "__main__":
    child.run(StartGrammarProcess | Lower, work, one_line)
