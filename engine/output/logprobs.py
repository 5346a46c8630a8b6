"""Tokens with their logprobs: which text each belongs to, and which piece of an output.

`PendingLogprobs` gives them out as their text comes free, `LogprobAttribution` to the pieces that were made of it.
"""

from collections.abc import Iterable
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


class LogprobAttribution:
    """Gives tokens to the pieces of an output. Tokens wait until something was made of their text: they go with the
    piece that ends with them or behind them."""

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._owed = ""  # pieces whose token went with the piece before them
        self._begun = ""  # the end of the text of the last token that went; it wasn't in that token's piece

    def add(self, tokens: Iterable[TokenLogprob]) -> None:
        self._waiting += tokens

    def of(self, text: str) -> tuple[TokenLogprob, ...]:
        """Returns those of the next piece that is text: it is their texts joined.

        So the texts of tokens before it that were framing are empty.
        """
        if not self._waiting:
            self._owed += text
            return ()
        text, self._owed = self._owed + text, ""
        whole = self._begun + "".join(token.text for token in self._waiting)
        # Framing stands before a piece, and can hold its text too.
        start = max(0, whole.rfind(text))
        end = min(start + len(text), len(whole))
        tokens, at = [], len(self._begun)
        for token in self._waiting:
            if at >= end:
                break
            shown = whole[max(at, start) : min(at + len(token.text), end)]
            tokens.append(token if shown == token.text else replace(token, text=shown))
            at += len(token.text)
        self._waiting = self._waiting[len(tokens) :]
        self._begun = whole[end:at]
        return tuple(tokens)

    def as_written(self) -> tuple[TokenLogprob, ...]:
        """Returns all tokens that wait, with their own texts."""
        tokens, self._waiting, self._begun = tuple(self._waiting), [], ""
        return tokens

    def rest(self) -> tuple[TokenLogprob, ...]:
        """Returns all tokens that are left at the end: no text was made of them but what is owed."""
        tokens = []
        for token in self.as_written():
            text = token.text if self._owed.startswith(token.text) else ""
            self._owed = self._owed[len(text) :]
            tokens.append(replace(token, text=text))
        return tuple(tokens)
