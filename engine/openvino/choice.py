"""One sequence on the server's side: its outputs become segments."""

from collections.abc import Iterator

from specvino.engine.openvino.messages import Output
from specvino.engine.segments import Finish, PromptText, Segment, TextDelta
from specvino.engine.text.choice_text import ChoiceText
from specvino.engine.text.echoed_prompt import EchoedPrompt


class Choice:
    """Begins with its prompt, if that is to be repeated, and ends with its Finish.

    Outputs that come later are tokens made after a stop string.
    """

    def __init__(self, index: int, text: ChoiceText, prompt: EchoedPrompt | None = None) -> None:
        self.index = index
        self._text = text
        self._prompt = prompt

    @property
    def tokens(self) -> int:
        """How many were read, up to and including the one that ended the choice."""
        return self._text.tokens

    def push(self, output: Output) -> Iterator[Segment]:
        if self._prompt is not None:
            logprobs = self._prompt.tokens(output.prompt_logprobs) if output.prompt_logprobs else ()
            yield PromptText(self.index, self._prompt.text, logprobs)
            self._prompt = None
        text = self._text.push(output.token_ids, output.logprobs)
        if output.finish is not None and not self._text.stopped:
            text += self._text.finish()
        if text:
            yield TextDelta(self.index, text, self._text.take_logprobs())
        reason = "stop" if self._text.stopped else output.finish
        if reason is not None:
            yield Finish(self.index, reason, self._text.rest_logprobs())
