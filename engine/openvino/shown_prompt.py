"""What is told of a prompt before the answer: how likely its tokens were, and its text."""

from collections.abc import Iterator, Sequence
from itertools import islice

from specvino.engine.openvino.messages.worker import Likeliest, Output
from specvino.engine.output.echoed_prompt import EchoedPrompt
from specvino.engine.output.tokens import TokenNames
from specvino.engine.request import GenerationRequest
from specvino.engine.segments import PromptLogprobs, PromptText, PromptToken, Segment, TokenLogprob


class ShownPrompt:
    """Is a prompt, whose tokens are `ids`, for all of its choices; `echoed` where it is to be repeated. What it is
    comes with the first output of one of them, and is worked out once."""

    def __init__(
        self, ids: Sequence[int], names: TokenNames, request: GenerationRequest, echoed: EchoedPrompt | None
    ) -> None:
        self._ids = ids
        self._names = names
        self._top = request.top_logprobs
        self._most = request.prompt_logprobs
        self._echoes_logprobs = request.echoes_logprobs
        self._echoed = echoed
        self._places: tuple[tuple[PromptToken, ...] | None, ...] | None = None
        self._tokens: tuple[TokenLogprob, ...] | None = None

    def knows(self, output: Output) -> bool:
        """Tells whether all is known that is to be told, with this output of a choice."""
        return self._most is None or self._places is not None or bool(output.prompt_ranks)

    def segments(self, choice: int, output: Output) -> Iterator[Segment]:
        """Yields what comes before a choice's text, by its first output."""
        likeliest = output.prompt_top_logprobs or []
        if self._most is not None:
            if self._places is None:
                found = self._found(output.prompt_logprobs or (), likeliest, output.prompt_ranks or ())
                self._places = tuple(found)
            yield PromptLogprobs(choice, self._places)
        if self._echoed is not None:
            if self._tokens is None and self._echoes_logprobs and output.prompt_logprobs:
                top = self._names.likeliest(self._ids, [each[: self._top] for each in likeliest])
                self._tokens = self._echoed.tokens(output.prompt_logprobs, top)
            yield PromptText(choice, self._echoed.text, self._tokens or ())

    def _found(
        self, logprobs: Sequence[float | None], likeliest: Sequence[Likeliest], ranks: Sequence[int]
    ) -> Iterator[tuple[PromptToken, ...] | None]:
        # Where the reasoning has no budget, the tokens that end it were read as part of the prompt.
        for id, logprob, found, rank in zip(self._ids, logprobs, likeliest, ranks, strict=False):
            if logprob is None:
                yield None
                continue
            own = PromptToken(id, self._names.text(id), logprob, rank)
            others = (
                PromptToken(other, self._names.text(other), likely, place)
                for place, (other, likely) in enumerate(islice(found, self._most), 1)
                if other != id
            )
            yield (own, *others)
