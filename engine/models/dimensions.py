"""The sizes of a model's layers, which decide how much memory it computes in."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from gguf import Keys

from specvino.engine.errors import UnusableModel
from specvino.engine.models.gguf_file import read_header

# A matrix of weights in a model's file.
_MATRIX = re.compile(rb'element_type="(?:[ui][48]|nf4|b?f16|f32|f8e\w+|f4e\w+)" shape="(\d+(?:, \d+)+)"')

# The shape of a state that grows: sequences, heads, tokens, elements.
_KEYS = re.compile(rb'variable_shape="\?,(\d+),\?,(\d+)"')

# In a cache of 8 bits an element has a byte, and a token of a head a scale and a zero point of eight bytes.
_SCALE = 8

# Other matrices have fewer rows than this share of those of the vocabulary.
_VOCABULARY_SHARE = 3 / 4


@dataclass(frozen=True, slots=True)
class Dimensions:
    """`vocabulary` is the number of tokens, `widest` the largest number of values of a token in a layer, `keys` that of
    a token's keys in a layer, in heads of `head` values, and `cached` the bytes of a token in a KV cache of 8 bits.
    What isn't known is 0.
    """

    vocabulary: int = 0
    widest: int = 0
    keys: int = 0
    head: int = 0
    cached: int = 0

    @property
    def heads(self) -> int:
        """Returns at most how many heads of queries a layer has."""
        return ceil(self.widest / self.head) if self.head else 0


def dimensions(path: Path) -> Dimensions:
    """Returns those of an OpenVINO folder or a .gguf file."""
    return _of_folder(path) if path.is_dir() else _of_gguf(path)


def _of_folder(folder: Path) -> Dimensions:
    rows: set[int] = set()
    keys: list[tuple[int, int]] = []
    for file in folder.glob("*_model.xml"):  # not those of the tokenizer
        content = file.read_bytes()
        shapes = [[int(size) for size in shape.split(b", ")] for shape in _MATRIX.findall(content)]
        # Quantized weights have groups as a dimension before the last one, and those of experts one before the rows.
        rows |= {max(shape[:-1]) for shape in shapes if shape[0] > 1}
        keys += [(int(heads), int(head)) for heads, head in _KEYS.findall(content)]
    return _of(
        rows,
        max((heads * head for heads, head in keys), default=0),
        min((head for _, head in keys), default=0),
        sum(heads * (head + _SCALE) for heads, head in keys),
    )


def _of_gguf(path: Path) -> Dimensions:
    try:
        header = read_header(path)
    except UnusableModel:
        return Dimensions()  # its load says what is wrong with it
    architecture = header.get_field(Keys.General.ARCHITECTURE)

    def size(key: str) -> int:
        field = architecture and header.get_field(key.format(arch=architecture.contents()))
        value = field and field.contents()
        return value if isinstance(value, int) else 0

    heads = size(Keys.Attention.HEAD_COUNT)
    kv_heads = size(Keys.Attention.HEAD_COUNT_KV) or heads
    head = size(Keys.Attention.KEY_LENGTH) or (size(Keys.LLM.EMBEDDING_LENGTH) // heads if heads else 0)
    rows = {int(tensor.shape[1]) for tensor in header.tensors if len(tensor.shape) > 1}
    return _of(rows, kv_heads * head, head, 2 * size(Keys.LLM.BLOCK_COUNT) * kv_heads * (head + _SCALE))


def _of(rows: Collection[int], keys: int, head: int, cached: int) -> Dimensions:
    most = max(rows, default=0)
    widest = max((count for count in rows if count < _VOCABULARY_SHARE * most), default=most)
    return Dimensions(most, widest, keys, head, cached)
