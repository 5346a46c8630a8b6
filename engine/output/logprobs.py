"""Logprobs of tokens: `PendingLogprobs` assigns them to the text of a choice, `LogprobAttribution` to its pieces."""

from collections.abc import Iterable
from dataclasses import replace

from specvino.engine.segments import TokenLogprob


class PendingLogprobs:
    """Holds back tokens as long as their text. A token is added with its text, and released when that text is.

    A token whose text is held back because it may begin a stop string waits with it, and its text can still be cut.
    Tokens without text stay with the next one that has some.
    """

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._complete = 0  # as many of them make up complete characters
        self._free = 0  # released characters whose tokens weren't taken yet

    def add(self, token: TokenLogprob, *, complete: bool = True) -> None:
        """Adds a token. `complete` means that the text doesn't end within a character after it."""
        self._waiting.append(token)
        if token.text and complete:
            self._complete = len(self._waiting)

    def extend(self, text: str) -> None:
        """Adds the text that follows at the end of all tokens to the last one."""
        if text and self._waiting:
            last = self._waiting[-1]
            self._waiting[-1] = replace(last, text=last.text + text)

    def free(self, length: int) -> None:
        """Releases `length` more characters."""
        self._free += length

    def take(self) -> tuple[TokenLogprob, ...]:
        """Returns the tokens whose text is released, in their order."""
        taken = length = 0
        for count, token in enumerate(self._waiting[: self._complete], start=1):
            length += len(token.text)
            if length > self._free:
                break
            if token.text:
                taken, given = count, length
        if not taken:
            return ()
        self._free -= given
        self._complete -= taken
        tokens, self._waiting = self._waiting[:taken], self._waiting[taken:]
        return tuple(tokens)

    def rest(self) -> tuple[TokenLogprob, ...]:
        """Returns the remaining tokens at the end of the text; what isn't released of their texts is cut off."""
        tokens = []
        for token in self._waiting:
            text = token.text[: self._free]
            self._free -= len(text)
            tokens.append(replace(token, text=text))
        self._waiting = []
        return tuple(tokens)


class LogprobAttribution:
    """Assigns tokens to the pieces of an output. A token waits until a piece is made of its text, and goes with the
    piece that ends with it or after it."""

    def __init__(self) -> None:
        self._waiting: list[TokenLogprob] = []
        self._owed = ""  # text of pieces whose token went with the piece before them
        self._begun = ""  # the rest of the text of the last assigned token, which wasn't in that token's piece

    def add(self, tokens: Iterable[TokenLogprob]) -> None:
        self._waiting += tokens

    def of(self, text: str) -> tuple[TokenLogprob, ...]:
        """Returns the tokens of the next piece of text, which is their joined texts: tokens of framing before it have
        empty texts."""
        if not self._waiting:
            self._owed += text
            return ()
        text, self._owed = self._owed + text, ""
        joined = self._begun + "".join(token.text for token in self._waiting)
        # Framing precedes a piece, and may contain its text, too.
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
        """Returns all waiting tokens with their own texts."""
        tokens, self._waiting, self._begun = tuple(self._waiting), [], ""
        return tokens

    def rest(self) -> tuple[TokenLogprob, ...]:
        """Returns the remaining tokens at the end. They have no text, except that of pieces that are owed one."""
        tokens = []
        for token in self.as_written():
            text = token.text if self._owed.startswith(token.text) else ""
            self._owed = self._owed[len(text) :]
            tokens.append(replace(token, text=text))
        return tuple(tokens)
