"""The grammar process: it converts JSON Schemas and structural tags into grammars.

It doesn't need OpenVINO, so it starts, and is replaced, within half a second.
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
from specvino.engine.openvino.native.bounded_work import bounded
from specvino.engine.openvino.native.error_output import one_line
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready
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
            reply = answer(question)
        channel.send(reply)


if __name__ == "__main__":
    child.run(StartGrammarProcess | Lower, work, one_line)
