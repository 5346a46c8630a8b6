"""One sequence on the server's side: its outputs become segments."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from specvino.engine.openvino.messages.worker import Output
from specvino.engine.openvino.shown_prompt import ShownPrompt
from specvino.engine.output.choice_output import ChoiceOutput
from specvino.engine.output.tokens import TokenNames
from specvino.engine.segments import Segment, TokenIds

if TYPE_CHECKING:
    from specvino.engine.openvino.closed_reasoning import BudgetedChoice


class RunningChoice:
    """Is a choice that begins with what is told of its `prompt`, and ends with its Finish. With `token_ids` it has its
    tokens, too.

    Outputs that come later are tokens made after a stop string, or after the only call. `budgeted` is what is needed to
    end its reasoning; `names` are those of tokens that weren't chosen.
    """

    def __init__(
        self, output: ChoiceOutput, names: TokenNames, prompt: ShownPrompt | None = None, *, token_ids: bool = False
    ) -> None:
        self.output = output
        self._names = names
        self.budgeted: BudgetedChoice | None = None
        self._prompt = prompt
        self._token_ids = token_ids

    def push(self, output: Output) -> Iterable[Segment]:
        if self.budgeted is not None:
            self.budgeted.token_ids += output.token_ids
        segments = self._segments(output)
        if self._prompt is None or not self._prompt.knows(output):
            return segments
        prompt = self._prompt.segments(self.output.index, output)
        self._prompt = None
        return (*prompt, *segments)

    def _segments(self, output: Output) -> Iterable[Segment]:
        read = self.output.tokens
        likeliest = self._names.likeliest(output.token_ids, output.top_logprobs)
        segments = self.output.push(output.token_ids, output.logprobs, output.finish, likeliest)
        if not self._token_ids:
            return segments
        segments = tuple(segments)
        ids = output.token_ids[: self.output.tokens - read]
        return (TokenIds(self.output.index, tuple(ids)), *segments) if ids else segments
