"""The attribution of logprobs: which tokens the pieces of an output were made of."""

from collections.abc import Iterable
from dataclasses import replace

from specvino.engine.segments import TokenLogprob


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
