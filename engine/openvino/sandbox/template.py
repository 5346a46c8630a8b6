"""The template process: it renders conversations by chat templates in requests.

A template is a program: a client's may run forever, fill the memory, or crash Python's parser. So it runs here, where
the kernel can kill it, and the server starts another process. It doesn't need OpenVINO, so it starts within half a
second.
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

_KEPT = 8  # compiled templates


class MemoryUsedUp(Exception):
    """There wasn't enough memory, but earlier templates use a part of it."""


class _Renderer:
    """Renders conversations by their own templates, and keeps the last few compiled templates."""

    def __init__(self, settings: StartTemplateProcess) -> None:
        self._marked = settings.marked
        self._compiled = lru_cache(maxsize=_KEPT)(lambda text: ChatTemplate(text, settings.variables))

    def answer(self, question: RenderTemplate, *, first: bool) -> TemplateRendered | RenderingRefused:
        """Returns the rendered conversation or a refusal. Raises MemoryUsedUp unless this is the `first` question: a
        new process decides then."""
        prompt = question.conversation()
        try:
            template: ChatTemplate = self._compiled(prompt.chat_template or "")
            pieces = render(template, prompt, self._marked, as_text=question.as_text)
            if sum(map(len, pieces)) > _MOST_CHARACTERS:
                return RenderingRefused(question.id, f"It writes more than {_MOST_CHARACTERS} characters.")
            for piece in pieces:
                piece.encode()  # a lone surrogate can't be sent
            return TemplateRendered(question.id, pieces, template.hidden(prompt))
        except MemoryError:
            if not first:
                raise MemoryUsedUp("earlier templates have used up the memory") from None
            return RenderingRefused(question.id, OUT_OF_BOUNDS)
        except Exception as error:
            return RenderingRefused(question.id, one_line(error))


def work(channel: BlockingChannel) -> None:
    renderer = _Renderer(channel.receive())
    child.limit_memory(MOST_MEMORY)
    channel.send(Ready())
    for number in itertools.count():
        question = channel.receive()
        # The kernel kills this process, since C code, such as a power of big numbers, can't be interrupted.
        signal.setitimer(signal.ITIMER_PROF, MOST_COMPUTING)
        reply = renderer.answer(question, first=number == 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        channel.send(reply)


if __name__ == "__main__":
    child.run(StartTemplateProcess | RenderTemplate, work, one_line)
