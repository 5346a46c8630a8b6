"""The model: a vocabulary of some words, short pieces of others and all characters, and texts drawn from it."""

import random
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WORDS = (
    " the", " a", " of", " and", " sky", " is", " blue", " red", " green", " Paris", " weather", " warm", " cold",
    " river", " stone", " bird", " light", " slow", " quick", " small", " great", " under", " above", " city", " café",
    " naïve", " über", " 日本", " 🌍", " 👋🏽", " one", " two", " three", " many", " door", " hand", " house",
    " Привет", " glass", " wind", " night", " day", " road", " sea", " leaf", " snow", " sings", " falls", " grows",
    " sleeps",
)  # fmt: skip
"""Their ids are 0, 1, 2, …"""

CHARACTERS = 1000
"""A character's id is its code point and this."""

PIECES = 2_000_000
"""A piece's id is its ASCII characters, as a number in base 128, and this."""

END = PIECES + 128**4
"""No token has an id from here on."""

BEGIN, PAD = 900, 901
"""Control tokens: before a text, and to fill a list with."""

_IDS = {word: index for index, word in enumerate(WORDS)}
_WORD = "|".join(map(re.escape, sorted(WORDS, key=len, reverse=True)))  # the longest one first
_TOKEN = re.compile(f"(?P<word>{_WORD})|(?P<piece> ?[A-Za-z]{{2,3}})|(?s:.)")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an answer. `logprob` is None where nothing foretold it."""

    id: int
    text: str
    logprob: float | None = None


class Words:
    """Encodes and draws."""

    def encode(self, text: str) -> list[int]:
        """Ids: words of the vocabulary where the text has them, else pieces of words, else characters."""
        return [self._id(token) for token in _TOKEN.finditer(text)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids; those that are none have no text."""
        return "".join(map(self.text_of, ids))

    def text_of(self, id: int) -> str:
        if id < len(WORDS):
            return WORDS[id]
        if PIECES <= id < END:
            return "".join(chr(id - PIECES >> 7 * index & 127) for index in range(4)).rstrip("\0")
        return chr(id - CHARACTERS) if CHARACTERS <= id < CHARACTERS + 0x110000 else ""

    def tokens(self, text: str, salt: int = 0) -> list[Token]:
        """The tokens of a text with probabilities that depend on them alone."""
        return [Token(id, self.text_of(id), self.logprob(id, salt + at)) for at, id in enumerate(self.encode(text))]

    def logprob(self, id: int, at: int) -> float:
        return -((id * 31 + at * 7) % 97 + 1) / 16

    def sentence(self, draw: random.Random, most: int) -> Iterator[str]:
        """Words without end, up to `most` tokens."""
        for at in range(most):
            word = draw.choice(WORDS)
            yield word.lstrip().capitalize() if at == 0 and word.isascii() else word

    def draw(self, prompt: Sequence[int], seed: int | None) -> random.Random:
        """The same for the same prompt and seed."""
        return random.Random(zlib.crc32(repr((list(prompt), seed)).encode()))

    def _id(self, token: re.Match[str]) -> int:
        if token["word"]:
            return _IDS[token[0]]
        if token["piece"]:
            return PIECES + sum(ord(character) << 7 * index for index, character in enumerate(token[0]))
        return CHARACTERS + ord(token[0])
