"""The template process renders one conversation after the other, until the server goes.

A template is a program: a client's may compute without end, fill the memory, or crash Python's parser. So it runs here,
where the kernel ends it, and the server starts another process. OpenVINO isn't needed, so that it is there within half
a second.
"""

import itertools
import signal
from functools import lru_cache

from specvino.engine.chat_template.chat_template import ChatTemplate
from specvino.engine.openvino.messages.preprocess import (
    MOST_COMPUTING,
    MOST_MEMORY,
    OUT_OF_BOUNDS,
    RenderingRefused,
    RenderTemplate,
    StartTemplateProcess,
    TemplateRendered,
)
from specvino.engine.openvino.native.error_output import one_line
from specvino.engine.openvino.native.rendering import render
from specvino.engine.processes import child
from specvino.engine.processes.channel import BlockingChannel, Ready

_MOST_CHARACTERS = 16 << 20  # of a prompt: twice what a body may have by default

_KEPT = 8  # templates


class MemoryUsedUp(Exception):
    """The memory didn't suffice, but earlier templates had a part of it."""


class _Renderer:
    """Renders conversations by templates of their own, of which the last few are kept."""

    def __init__(self, settings: StartTemplateProcess) -> None:
        self._marked = settings.marked
        self._compiled = lru_cache(maxsize=_KEPT)(lambda text: ChatTemplate(text, settings.variables))

    def answer(self, asked: RenderTemplate, *, first: bool) -> TemplateRendered | RenderingRefused:
        """Raises MemoryUsedUp unless this is the `first` question: a process of its own decides it."""
        prompt = asked.conversation()
        try:
            template: ChatTemplate = self._compiled(prompt.chat_template or "")
            pieces = render(template, prompt, self._marked, as_text=asked.as_text)
            if sum(map(len, pieces)) > _MOST_CHARACTERS:
                return RenderingRefused(asked.id, f"It writes more than {_MOST_CHARACTERS} characters.")
            for piece in pieces:
                piece.encode()  # half a character can't be sent
            return TemplateRendered(asked.id, pieces, template.hidden(prompt))
        except MemoryError:
            if not first:
                raise MemoryUsedUp("earlier templates have used the memory up") from None
            return RenderingRefused(asked.id, OUT_OF_BOUNDS)
        except Exception as error:
            return RenderingRefused(asked.id, one_line(error))


def work(channel: BlockingChannel) -> None:
    renderer = _Renderer(channel.receive())
    child.limit_memory(MOST_MEMORY)
    channel.send(Ready())
    for number in itertools.count():
        asked = channel.receive()
        # The kernel kills this process: what computes in C, such as a power of big numbers, can't be interrupted.
        signal.setitimer(signal.ITIMER_PROF, MOST_COMPUTING)
        answered = renderer.answer(asked, first=number == 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        channel.send(answered)


if __name__ == "__main__":
    child.run(StartTemplateProcess | RenderTemplate, work, one_line)
