"""What is told of a prompt before the answer: how likely its tokens were, and its text."""

from collections.abc import Iterator, Sequence
from itertools import islice

from specvino.engine.openvino.messages.worker import Likeliest, Output
from specvino.engine.request import GenerationRequest
from specvino.engine.segments import PromptLogprobs, PromptText, PromptToken, Segment, TokenLogprob
from specvino.engine.text.echoed_prompt import EchoedPrompt
from specvino.engine.text.token_names import TokenNames


class ShownPrompt:
    """Is the prompt of the choice number `choice`, whose tokens are `ids`; `echoed` where it is to be repeated."""

    def __init__(
        self,
        choice: int,
        ids: Sequence[int],
        names: TokenNames,
        request: GenerationRequest,
        echoed: EchoedPrompt | None,
    ) -> None:
        self._choice = choice
        self._ids = ids
        self._names = names
        self._top = request.top_logprobs
        self._most = request.prompt_logprobs
        self._echoes_logprobs = request.echoes_logprobs
        self._echoed = echoed

    def segments(self, output: Output) -> Iterator[Segment]:
        """Yields what comes before the choice's text, by its first output."""
        logprobs = output.prompt_logprobs or []
        likeliest = output.prompt_top_logprobs or []
        if self._most is not None and output.prompt_ranks:
            yield PromptLogprobs(self._choice, tuple(self._places(logprobs, likeliest, output.prompt_ranks)))
        if self._echoed is not None:
            shown: tuple[TokenLogprob, ...] = ()
            if logprobs and self._echoes_logprobs:
                top = self._names.likeliest(self._ids, [each[: self._top] for each in likeliest])
                shown = self._echoed.tokens(logprobs, top)
            yield PromptText(self._choice, self._echoed.text, shown)

    def _places(
        self, logprobs: Sequence[float | None], likeliest: Sequence[Likeliest], ranks: Sequence[int]
    ) -> Iterator[tuple[PromptToken, ...] | None]:
        for id, logprob, found, rank in zip(self._ids, logprobs, likeliest, ranks, strict=True):
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
