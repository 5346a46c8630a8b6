"""The scripted engine's tokenizer: a token is a word with the white space before it. It has no special tokens."""

import re
import zlib

VOCABULARY_SIZE = 32_768
PAD_ID = 0

# The word that each id stood for last: no more of them than there are ids.
_WORDS: dict[int, str] = {}

_TOKEN = re.compile(r"\s*\S+|\s+$")


def words(text: str) -> list[str]:
    """Returns the text's tokens; together they are the text."""
    return _TOKEN.findall(text)


def word_ids(text: str) -> list[int]:
    """Returns an id for each token, the same for the same word everywhere; some words share theirs."""
    return [word_id(word.encode()) for word in words(text)]


def word_id(word: bytes) -> int:
    id = zlib.crc32(word) % VOCABULARY_SIZE
    _WORDS[id] = word.decode(errors="replace")
    return id


def word_of(id: int) -> str:
    """Returns the word that was last seen under an id, or the id as a word."""
    return _WORDS.get(id, f" {id}")
