"""The scripted engine's tokenizer: a token is a word with the white space before it. It has no special tokens."""

import re
import zlib

VOCABULARY_SIZE = 32_768
PAD_ID = 0

_TOKEN = re.compile(r"\s*\S+|\s+$")


def words(text: str) -> list[str]:
    """Returns the text's tokens; together they are the text."""
    return _TOKEN.findall(text)


def word_ids(text: str) -> list[int]:
    """Returns an id for each token, the same for the same word everywhere; some words share theirs."""
    return [word_id(word.encode()) for word in words(text)]


def word_id(word: bytes) -> int:
    return zlib.crc32(word) % VOCABULARY_SIZE
