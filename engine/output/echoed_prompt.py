"""A prompt echoed as text, with its tokens' logprobs if requested."""

from collections.abc import Sequence
from itertools import repeat

from specvino.engine.output.detokenizer import Detokenizer, DetokenizerFactory
from specvino.engine.request import Prompt, TextPrompt
from specvino.engine.segments import TokenLogprob, TopToken


class EchoedPrompt:
    """A prompt to echo. `text` is the text prompt itself, or the decoded tokens of any other prompt, with special
    tokens if `special`.
    """

    def __init__(
        self, prompt: Prompt, ids: Sequence[int], detokenizers: DetokenizerFactory, *, special: bool = False
    ) -> None:
        self.ids = ids
        self._detokenizers = detokenizers
        pieces = [prompt.text] if isinstance(prompt, TextPrompt) else _pieces(detokenizers(special=special), ids)
        self.text = "".join(pieces)

    def tokens(
        self, logprobs: Sequence[float | None], most_likely: Sequence[tuple[TopToken, ...]] = ()
    ) -> tuple[TokenLogprob, ...]:
        """Returns the prompt's tokens, whose texts make up `text`. `logprobs` has a logprob for each token, and
        `most_likely` the most likely tokens at its position, if they are known.

        A special token may be part of the text, or may have been added by the tokenizer.
        """
        shown, hidden = self._read(special=True), self._read(special=False)
        readings = (shown, [*hidden[:1], *shown[1:]], hidden)
        pieces = next((pieces for pieces in readings if "".join(text for text, _ in pieces) == self.text), shown)
        return tuple(
            TokenLogprob(text, bytes, logprob, top)
            for (text, bytes), logprob, top in zip(
                pieces, logprobs, most_likely or repeat((), len(pieces)), strict=True
            )
        )

    def _read(self, *, special: bool) -> list[tuple[str, bytes | None]]:
        """Returns each token's text and bytes."""
        detokenizer = self._detokenizers(special=special, per_token=True)
        read = [(detokenizer.push([id]), detokenizer.bytes_of(id)) for id in self.ids]
        text, bytes = read[-1]
        return [*read[:-1], (text + detokenizer.finish(), bytes)]


def _pieces(detokenizer: Detokenizer, ids: Sequence[int]) -> list[str]:
    pieces = [detokenizer.push([id]) for id in ids]
    pieces[-1] += detokenizer.finish()
    return pieces
