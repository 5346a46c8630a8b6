"""A vocabulary: its size, its special tokens, and the bytes of each token."""

from pathlib import Path
from typing import NamedTuple

import openvino
from openvino_genai import Tokenizer

from specvino.engine.models.folder import LANGUAGE_MODEL

_REPLACEMENT = "\ufffd"

# Tokens are decoded after this one, since tokenizers may treat the beginning of a text differently.
_BEFORE = b"a"

# Text that a tokenizer with clean-up, or with word marks for spaces, wouldn't reproduce exactly.
_SAMPLE = " Hello , world . It isn 't \t done !\n\n  def f( x ):  #  naïve café 你好 🎉👨‍👩‍👧🇫🇷 \u0301"


def model_size(path: str) -> int | None:
    """Returns the size of the model's vocabulary; None for a GGUF file, whose tokenizer is created from it. It is
    larger than the tokenizer's if the model's embedding was padded, and smaller if tokens were added to the tokenizer
    only.
    """
    names = ("openvino_model.xml", LANGUAGE_MODEL)
    file = next((file for name in names if (file := Path(path) / name).exists()), None)
    if file is None:
        return None
    logits = openvino.Core().read_model(file).output("logits").partial_shape[-1]
    return int(logits.get_length()) if logits.is_static else None


def special_tokens(tokenizer: Tokenizer, size: int) -> dict[int, str]:
    """Returns the ids that `skip_special_tokens` leaves out, with their texts."""
    singles = [[i] for i in range(size)]
    shown = tokenizer.decode(singles, skip_special_tokens=False)
    kept = tokenizer.decode(singles, skip_special_tokens=True)
    return {i: text for i, text in enumerate(shown) if text != kept[i]}


class ByteTable(NamedTuple):
    """Each id's bytes, empty for special ones. With `drops_space` a space at the beginning of a text is dropped."""

    table: list[bytes]
    drops_space: bool


def byte_table(tokenizer: Tokenizer, vocabulary: dict[bytes, int], special: dict[int, str]) -> ByteTable | None:
    """Returns the bytes of all tokens, or None if this vocabulary has no such table.

    `vocabulary` is `tokenizer.get_vocab()`. The table is compared with the tokenizer's output: for every token alone
    and after another one, and for a sample of text.
    """
    if _BEFORE not in vocabulary:
        return None
    size = max(vocabulary.values()) + 1
    table: list[bytes | None] = [None] * size
    for token, i in vocabulary.items():
        table[i] = token
    for i in special:
        table[i] = b""
    before = vocabulary[_BEFORE]
    behind = [text.removeprefix(_BEFORE.decode()) for text in tokenizer.decode([[before, i] for i in range(size)])]
    # The vocabulary has only one of two tokens with the same bytes.
    full = [behind[i].encode() if token is None else token for i, token in enumerate(table)]
    if any(_valid(token) != text.replace(_REPLACEMENT, "") for token, text in zip(full, behind, strict=True)):
        return None
    alone = tokenizer.decode([[i] for i in range(size)])
    drops_space = alone != behind
    if drops_space and alone != [text.removeprefix(" ") for text in behind]:
        return None
    sample = tokenizer.encode(_SAMPLE, add_special_tokens=False).input_ids.data[0].tolist()
    text = b"".join(full[i] for i in sample).decode(errors="replace")
    same = (text.removeprefix(" ") if drops_space else text) == tokenizer.decode(sample)
    return ByteTable(full, drops_space) if same else None


def _valid(token: bytes) -> str:
    """Returns a token's text without invalid UTF-8, which tokenizers handle differently (`output/detokenizer.py`)."""
    return token.decode(errors="ignore").replace(_REPLACEMENT, "")
