"""The server's side of the template process."""

from specvino.engine.errors import PromptError
from specvino.engine.openvino.messages.preprocess import Vocabulary
from specvino.engine.openvino.messages.template import (
    OUT_OF_BOUNDS,
    RenderingRefused,
    RenderTemplate,
    StartTemplateProcess,
    TemplateRendered,
)
from specvino.engine.processes.request_reply import ProcessCrashed, RequestReplyClient
from specvino.engine.request import Conversation


class TemplateClient:
    """Renders conversations by the chat templates that they bring, in a process that is started with the first."""

    def __init__(self, vocabulary: Vocabulary, deadline: float) -> None:
        self._renderings = RequestReplyClient(
            "template",
            "specvino.engine.openvino.template_process",
            StartTemplateProcess(vocabulary.variables, vocabulary.marked),
            TemplateRendered | RenderingRefused,
            deadline,
        )

    @property
    def pid(self) -> int | None:
        """Returns the process, None for one that was not needed yet or is being restarted."""
        return self._renderings.process.pid

    async def render(self, prompt: Conversation, *, as_text: bool) -> TemplateRendered:
        """Returns a prompt. Raises PromptError and EngineUnavailable."""
        try:
            answer = await self._renderings.ask(lambda id: RenderTemplate.of(id, prompt, as_text=as_text))
        except ProcessCrashed:
            answer = RenderingRefused(0, OUT_OF_BOUNDS)
        if isinstance(answer, RenderingRefused):
            raise PromptError(f"The chat template refuses these messages: {answer.reason}")
        assert isinstance(answer, TemplateRendered)
        return answer

    async def close(self) -> None:
        await self._renderings.close()
