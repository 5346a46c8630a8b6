"""A prompt given back as text, with its tokens' probabilities where they are wanted."""

from collections.abc import Sequence

from specvino.engine.request import Prompt, TextPrompt
from specvino.engine.segments import TokenLogprob
from specvino.engine.text.detokenizer import Detokenizer, DetokenizerFactory


class EchoedPrompt:
    """`text` is a text prompt as it was given; of others it is the tokens' text, with special tokens or not."""

    def __init__(
        self, prompt: Prompt, ids: Sequence[int], detokenizers: DetokenizerFactory, *, special: bool = False
    ) -> None:
        self._ids = ids
        self._detokenizers = detokenizers
        pieces = [prompt.text] if isinstance(prompt, TextPrompt) else _pieces(detokenizers(special=special), ids)
        self.text = "".join(pieces)

    def tokens(self, logprobs: Sequence[float | None]) -> tuple[TokenLogprob, ...]:
        """The prompt's tokens; their texts make up `text`. There is one of `logprobs` for each.

        A special token may stand in the text, or may have been added by the tokenizer.
        """
        detokenizer = self._detokenizers(special=True, each=True)
        shown = _pieces(detokenizer, self._ids)
        hidden = _pieces(self._detokenizers(each=True), self._ids)
        readings = (shown, ["", *shown[1:]], hidden)
        texts = next((texts for texts in readings if "".join(texts) == self.text), shown)
        return tuple(
            TokenLogprob(text, detokenizer.bytes_of(id), logprob)
            for text, id, logprob in zip(texts, self._ids, logprobs, strict=True)
        )


def _pieces(detokenizer: Detokenizer, ids: Sequence[int]) -> list[str]:
    pieces = [detokenizer.push([id]) for id in ids]
    pieces[-1] += detokenizer.finish()
    return pieces
