"""The CPU time limit of the grammar and trial processes: a question that exceeds it is rejected and ends its
process.
"""

import os
from contextlib import AbstractContextManager

from specvino.engine.openvino.messages.grammar import ConstraintRefused
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Failed


def bounded(channel: BlockingChannel, id: int, seconds: float) -> AbstractContextManager[None]:
    """Rejects the question as soon as the work within the context has taken `seconds` of CPU time, and ends the
    process.
    """

    def refuse() -> None:
        # Failed is sent first: after an answer, the server would send the next question.
        channel.send(Failed(f"a constraint takes more than {seconds:g} s of computing"))
        channel.send(ConstraintRefused(id, f"compiling its grammar takes more than {seconds:g} s of computing"))
        os._exit(0)

    return child.bounded(seconds, refuse)
