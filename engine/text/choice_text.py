"""A choice's tokens as text, up to a stop string."""

from collections.abc import Sequence

from specvino.engine.request import Sampling
from specvino.engine.segments import TokenLogprob
from specvino.engine.text.detokenizer import Detokenizer
from specvino.engine.text.stop import StopMatcher
from specvino.engine.text.token_trail import TokenTrail


class ChoiceText:
    """`tokens` counts those that were read, up to and including the one that brought a stop string.

    With `logprobs` a text comes together with the tokens that it is made of: it waits for the end of its last one,
    which may be a part of a character, or hold what may begin a stop string.
    """

    def __init__(self, detokenizer: Detokenizer, sampling: Sampling, *, logprobs: bool = False) -> None:
        stops = [stop for stop in sampling.stop if stop]
        self.tokens = 0
        self.stopped = False
        self._detokenizer = detokenizer
        self._stops = StopMatcher(stops, keep=sampling.include_stop_str_in_output) if stops else None
        self._trail = TokenTrail() if logprobs else None
        self._tokens: tuple[TokenLogprob, ...] = ()
        self._rest: tuple[TokenLogprob, ...] = ()

    def push(self, token_ids: Sequence[int], logprobs: Sequence[float] | None = None) -> str:
        """Returns the text that these tokens free; none after a stop string."""
        if self._stops is None and self._trail is None:
            self.tokens += len(token_ids)
            return self._detokenizer.push(token_ids)
        text = ""
        for place, token_id in enumerate(token_ids):
            self.tokens += 1
            piece = self._detokenizer.push([token_id])
            if self._trail is not None:
                logprob = logprobs[place] if logprobs else None
                bytes = self._detokenizer.bytes_of(token_id)
                self._trail.add(piece, bytes, logprob, whole=not self._detokenizer.unfinished)
            text += self._free(piece)
            if self.stopped:
                break
        return self._released(text, ended=self.stopped)

    def finish(self) -> str:
        """The text that was held back, now that no more tokens come."""
        piece = self._detokenizer.finish()
        if self._trail is not None:
            self._trail.extend(piece)
        text = self._free(piece)
        if self._stops is not None and not self.stopped:
            held = self._stops.finish()
            if self._trail is not None:
                self._trail.free(len(held))
            text += held
        return self._released(text, ended=True)

    def take_logprobs(self) -> tuple[TokenLogprob, ...]:
        """Those of the text that was returned since they were last taken."""
        tokens, self._tokens = self._tokens, ()
        return tokens

    def rest_logprobs(self) -> tuple[TokenLogprob, ...]:
        """All others, at the end: they gave no text."""
        tokens, self._rest = self._rest, ()
        return tokens

    def _released(self, text: str, *, ended: bool) -> str:
        if self._trail is None:
            return text
        tokens = self._trail.take()
        if ended:
            tokens += self._trail.rest()
            shown = max((place for place, token in enumerate(tokens, start=1) if token.text), default=0)
            tokens, self._rest = tokens[:shown], tokens[shown:]
        self._tokens += tokens
        return "".join(token.text for token in tokens)

    def _free(self, piece: str) -> str:
        if self._stops is not None:
            piece, self.stopped = self._stops.push(piece)
        if self._trail is not None:
            self._trail.free(len(piece))
        return piece
