"""The grammars process: schemas and structural tags become grammars, away from the server's event loop.

It needs no OpenVINO, so it is there within half a second of the first constraint.
"""

import json

from specvino.engine.errors import ConstraintError
from specvino.engine.grammar.structured_output import lower
from specvino.engine.openvino.messages.grammar import Begin, Lower, Lowered, Refused, refused
from specvino.engine.openvino.native.error_text import one_line
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel
from specvino.engine.processes.lifecycle import Ready
from specvino.engine.request import JsonSchema, StructuralTag


def answer(question: Lower) -> Lowered | Refused:
    try:
        value = json.loads(question.text)
        constraint = (StructuralTag if question.structural else JsonSchema)(value, question.strict)
        return Lowered(question.id, lower(constraint))
    except RecursionError:
        return Refused(question.id, "it is nested too deeply")
    except ConstraintError as error:
        return refused(question.id, error)


def work(channel: BlockingChannel) -> None:
    channel.receive()
    channel.send(Ready())
    while True:
        channel.send(answer(channel.receive()))


if __name__ == "__main__":
    child.run(Begin | Lower, work, one_line)
