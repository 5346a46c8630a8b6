"""The tokens of a text with their logprobs, given out as the text comes free."""

from dataclasses import replace

from specvino.engine.segments import TokenLogprob


class PendingLogprobs:
    """Holds back logprobs as long as their text. Tokens go in with the text that each gave at once; they come out when
    that text is free to go.

    So a token whose text is held back, as it may begin a stop string, waits with it, and its text can still be cut.
    Tokens that give no text stay with the next one that does.
    """

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._whole = 0  # so many of them end a run whose text is complete
        self._free = 0  # characters that are free to go and whose tokens aren't out yet

    def add(self, token: TokenLogprob, *, whole: bool = True) -> None:
        """Adds a token; `whole` says that the text isn't inside a character after this token."""
        self._waiting.append(token)
        if token.text and whole:
            self._whole = len(self._waiting)

    def extend(self, text: str) -> None:
        """Adds what comes at the end of all tokens to the last one's text."""
        if text and self._waiting:
            last = self._waiting[-1]
            self._waiting[-1] = replace(last, text=last.text + text)

    def free(self, length: int) -> None:
        """Lets so many more characters go."""
        self._free += length

    def take(self) -> tuple[TokenLogprob, ...]:
        """Returns the tokens whose text is free, in their order."""
        taken = length = 0
        for place, token in enumerate(self._waiting[: self._whole], start=1):
            length += len(token.text)
            if length > self._free:
                break
            if token.text:
                taken, given = place, length
        if not taken:
            return ()
        self._free -= given
        self._whole -= taken
        tokens, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return tuple(tokens)

    def rest(self) -> tuple[TokenLogprob, ...]:
        """Returns all tokens that are left, now that no more text comes: what isn't free of their texts is cut off."""
        tokens = []
        for token in self._waiting:
            text = token.text[: self._free]
            self._free -= len(text)
            tokens.append(replace(token, text=text))
        self._waiting = []
        return tuple(tokens)
