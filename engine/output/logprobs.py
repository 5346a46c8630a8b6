"""Logprobs of tokens: `PendingLogprobs` assigns them to a choice's text, `LogprobAttribution` to its pieces."""

from collections.abc import Iterable
from dataclasses import replace

from specvino.engine.segments import TokenLogprob


class PendingLogprobs:
    """A buffer that holds back tokens as long as their text. A token is added with its text, and released together with
    it. If text is held back because it may begin a stop string, its token waits, and its text can still be cut.
    Tokens without text stay with the next token that has text.
    """

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._complete = 0  # the number of them that form complete characters
        self._free = 0  # released characters whose tokens haven't been taken yet

    def add(self, token: TokenLogprob, *, complete: bool = True) -> None:
        """Adds a token. `complete` means that the text doesn't end inside a character after it."""
        self._waiting.append(token)
        if token.text and complete:
            self._complete = len(self._waiting)

    def extend(self, text: str) -> None:
        """Appends text to the last token, after all tokens."""
        if text and self._waiting:
            last = self._waiting[-1]
            self._waiting[-1] = replace(last, text=last.text + text)

    def free(self, length: int) -> None:
        """Releases `length` more characters."""
        self._free += length

    def take(self) -> tuple[TokenLogprob, ...]:
        """Returns the tokens with released text, in order."""
        taken = length = 0
        for count, token in enumerate(self._waiting[: self._complete], start=1):
            length += len(token.text)
            if length > self._free:
                break
            if token.text:
                taken, taken_length = count, length
        if not taken:
            return ()
        self._free -= taken_length
        self._complete -= taken
        tokens, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return tuple(tokens)

    def rest(self) -> tuple[TokenLogprob, ...]:
        """Returns the remaining tokens at the end of the text; the unreleased part of their texts is cut off."""
        tokens = []
        for token in self._waiting:
            text = token.text[: self._free]
            self._free -= len(text)
            tokens.append(replace(token, text=text))
        self._waiting = []
        return tuple(tokens)


class LogprobAttribution:
    """Assigns tokens to the pieces of an output. A token waits for the pieces with its text, and belongs to the piece
    that ends with it or after it.
    """

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._owed = ""  # text of pieces whose token was assigned to the previous piece
        self._begun = ""  # the rest of the last assigned token's text, which isn't in that token's piece

    def add(self, tokens: Iterable[TokenLogprob]) -> None:
        self._waiting += tokens

    def of(self, text: str) -> tuple[TokenLogprob, ...]:
        """Returns the tokens of the next piece of text; their joined texts are that text: tokens of framing before it
        have empty texts.
        """
        if not self._waiting:
            self._owed += text
            return ()
        text, self._owed = self._owed + text, ""
        joined = self._begun + "".join(token.text for token in self._waiting)
        # Framing precedes a piece, and may contain the same text.
        start = max(0, joined.rfind(text))
        end = min(start + len(text), len(joined))
        tokens, at = [], len(self._begun)
        for token in self._waiting:
            if at >= end:
                break
            shown = joined[max(at, start) : min(at + len(token.text), end)]
            tokens.append(token if shown == token.text else replace(token, text=shown))
            at += len(token.text)
        self._waiting = self._waiting[len(tokens) :]
        self._begun = joined[end:at]
        return tuple(tokens)

    def as_written(self) -> tuple[TokenLogprob, ...]:
        """Returns all pending tokens with their own texts."""
        tokens, self._waiting, self._begun = tuple(self._waiting), [], ""
        return tokens

    def rest(self) -> tuple[TokenLogprob, ...]:
        """Returns the remaining tokens at the end. They have no text, except for pieces that still lack their token."""
        tokens = []
        for token in self.as_written():
            text = token.text if self._owed.startswith(token.text) else ""
            self._owed = self._owed[len(text) :]
            tokens.append(replace(token, text=text))
        return tuple(tokens)
