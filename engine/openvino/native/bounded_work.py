"""The limit of work in the grammar and trial processes: a question that takes too much CPU time is refused, and ends
its process."""

import os
from contextlib import AbstractContextManager

from specvino.engine.openvino.messages.grammar import ConstraintRefused
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Failed


def bounded(channel: BlockingChannel, id: int, seconds: float) -> AbstractContextManager[None]:
    """Refuses the question as soon as the work within the context has taken `seconds` of CPU time, and ends the
    process."""

    def refuse() -> None:
        # Failed comes first: with the answer the next question would be sent.
        channel.send(Failed(f"a constraint takes more than {seconds:g} s of computing"))
        channel.send(ConstraintRefused(id, f"making a grammar of it takes more than {seconds:g} s of computing"))
        os._exit(0)

    return child.bounded(seconds, refuse)
