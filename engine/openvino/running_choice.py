"""One sequence on the server's side: its outputs become segments."""

from collections.abc import Iterable

from specvino.engine.openvino.messages.worker import Output
from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.segments import PromptText, Segment
from specvino.engine.text.echoed_prompt import EchoedPrompt


class RunningChoice:
    """Is a choice that begins with its prompt, if that is to be repeated, and ends with its Finish.

    Outputs that come later are tokens made after a stop string, or after the only call.
    """

    def __init__(self, output: ChoiceOutput, prompt: EchoedPrompt | None = None) -> None:
        self.output = output
        self._prompt = prompt

    def push(self, output: Output) -> Iterable[Segment]:
        segments = self.output.push(output.token_ids, output.logprobs, output.finish)
        if self._prompt is None:
            return segments
        logprobs = self._prompt.tokens(output.prompt_logprobs) if output.prompt_logprobs else ()
        prompt = PromptText(self.output.index, self._prompt.text, logprobs)
        self._prompt = None
        return (prompt, *segments)
