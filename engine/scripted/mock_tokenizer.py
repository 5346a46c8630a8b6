"""The scripted engine's tokenizer: a token is a word with the white space before it. There are no special tokens."""

import re
import zlib

VOCABULARY_SIZE = 32_768
PAD_ID = 0

# The last word of each id.
_WORDS: dict[int, str] = {}

_TOKEN = re.compile(r"\s*\S+|\s+$")


def words(text: str) -> list[str]:
    """Returns the text's tokens; joined they are the text."""
    return _TOKEN.findall(text)


def word_ids(text: str) -> list[int]:
    """Returns the id of each token. The same word always has the same id; some words share one."""
    return [word_id(word.encode()) for word in words(text)]


def word_id(word: bytes) -> int:
    id = zlib.crc32(word) % VOCABULARY_SIZE
    _WORDS[id] = word.decode(errors="replace")
    return id


def word_of(id: int) -> str:
    """Returns the last word with this id, or the id itself as a word."""
    return _WORDS.get(id, f" {id}")
