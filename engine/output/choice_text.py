"""A choice's tokens as text, up to a stop string or a stop token."""

from collections.abc import Sequence

from specvino.engine.output.detokenizer import Detokenizer
from specvino.engine.output.logprobs import PendingLogprobs
from specvino.engine.output.stop import StopMatcher
from specvino.engine.request import Sampling
from specvino.engine.segments import TokenLogprob, TopToken

Top = tuple[TopToken, ...]


class ChoiceText:
    """Turns a choice's tokens into text. `tokens` counts the processed ones, up to and including the one that stopped
    the choice; `stopped_by` is the stop string or token. With `logprobs` a text is returned together with its tokens:
    it waits until its last token is complete, which may be a part of a character or contain the beginning of a stop
    string.
    """

    def __init__(self, detokenizer: Detokenizer, sampling: Sampling, *, logprobs: bool = False) -> None:
        stops = [stop for stop in sampling.stop if stop]
        self.tokens = 0
        self.stopped = False
        self.stopped_by: str | int | None = None
        self._detokenizer = detokenizer
        self._stops = StopMatcher(stops, keep=sampling.include_stop_str_in_output) if stops else None
        self._ends = sampling.stop_token_ids
        self._keep = sampling.include_stop_str_in_output
        self._least = sampling.min_tokens
        self._trail = PendingLogprobs() if logprobs else None
        self._tokens: tuple[TokenLogprob, ...] = ()
        self._rest: tuple[TokenLogprob, ...] = ()

    def push(
        self, token_ids: Sequence[int], logprobs: Sequence[float] | None = None, most_likely: Sequence[Top] = ()
    ) -> str:
        """Returns the text that these tokens complete; none after a stop. `most_likely` are the most likely tokens at
        their positions, if known, for the logprobs.
        """
        if self._stops is None and self._trail is None and not self._ends:
            self.tokens += len(token_ids)
            return self._detokenizer.push(token_ids)
        text = ""
        for index, token_id in enumerate(token_ids):
            self.tokens += 1
            top = most_likely[index] if most_likely else ()
            text += self._read(token_id, logprobs[index] if logprobs else None, top)
            if self.stopped:
                break
        return self._released(text, ended=self.stopped)

    def finish(self) -> str:
        """Returns the text that was held back; no more tokens follow."""
        return self._released(self._held(), ended=True)

    def take_logprobs(self) -> tuple[TokenLogprob, ...]:
        """Returns the logprobs of the text that was returned since the last call."""
        tokens, self._tokens = self._tokens, ()
        return tokens

    def rest_logprobs(self) -> tuple[TokenLogprob, ...]:
        """Returns the remaining logprobs at the end; their tokens have no text."""
        tokens, self._rest = self._rest, ()
        return tokens

    def _released(self, text: str, *, ended: bool) -> str:
        if self._trail is None:
            return text
        tokens = self._trail.take()
        if ended:
            tokens += self._trail.rest()
            shown = max((count for count, token in enumerate(tokens, start=1) if token.text), default=0)
            tokens, self._rest = tokens[:shown], tokens[shown:]
        self._tokens += tokens
        return "".join(token.text for token in tokens)

    def _read(self, token_id: int, logprob: float | None, top: Top) -> str:
        stops = token_id in self._ends and self.tokens > self._least
        held = self._held() if stops and not self._keep else ""
        piece = "" if stops and not self._keep else self._detokenizer.push([token_id])
        if self._trail is not None:
            bytes = self._detokenizer.bytes_of(token_id)
            self._trail.add(TokenLogprob(piece, bytes, logprob, top), complete=not self._detokenizer.unfinished)
        text = held + self._free(piece)
        if stops and not self.stopped:
            text += self._held()
            self.stopped, self.stopped_by = True, token_id
        return text

    def _held(self) -> str:
        piece = self._detokenizer.finish()
        if self._trail is not None:
            self._trail.extend(piece)
        text = self._free(piece)
        if self._stops is not None and not self.stopped:
            held = self._stops.finish()
            if self._trail is not None:
                self._trail.free(len(held))
            text += held
        return text

    def _free(self, piece: str) -> str:
        if self._stops is not None and self.tokens > self._least:
            piece, self.stopped = self._stops.push(piece)
            self.stopped_by = self._stops.matched
        if self._trail is not None:
            self._trail.free(len(piece))
        return piece
