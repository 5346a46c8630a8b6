"""Byte-level BPE as tiktoken has it: tokens are bytes, and of two neighbours those merge first that make the token
of the lowest rank.
"""

import base64
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import openvino
import tiktoken
from models.vocabularies.family import Family, combining, subgraphs
from openvino_tokenizers.constants import UTF8ReplaceMode
from openvino_tokenizers.tokenizer_pipeline import (
    BPETokenizationStep,
    FuseStep,
    NormalizeUnicode,
    RegexSplitStep,
    SpecialTokensSplit,
    UTF8ValidateStep,
    VocabDecoderStep,
)

# Words as GPT-4 cuts them; what stands for %s says how many digits are one.
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_CACHE = 20_000  # words; so many for a vocabulary of 100,000, where OpenVINO converts one


@dataclass(frozen=True)
class ByteLevel:
    """`first` is the id of the token with rank 0. `pattern` cuts a text into words, within which tokens merge."""

    ranks: dict[bytes, int]
    pattern: str
    first: int = 0
    nfc: bool = False

    def models(self, family: Family) -> tuple[openvino.Model, openvino.Model]:
        tokens = [b""] * self.first + list(self.ranks)
        added = {text.encode(): id for text, id in family.added.items()}
        tokens += [b""] * (max(added.values()) + 1 - len(tokens))
        for text, id in added.items():
            tokens[id] = text
        return subgraphs(
            [
                SpecialTokensSplit.from_string_iter(family.added),
                *([NormalizeUnicode("NFC")] if self.nfc else []),
                RegexSplitStep(self.pattern, invert=False, behaviour="isolate"),
                BPETokenizationStep(tokens, self._merges, added_tokens=added, cache_capacity=_CACHE),
                *combining(family),
                VocabDecoderStep(skip_tokens=list(family.control.values())),
                FuseStep(),
                UTF8ValidateStep(UTF8ReplaceMode.REPLACE),
            ]
        )

    def reference(self, family: Family) -> Callable[[str], list[int]]:
        encoding = tiktoken.Encoding(family.name, pat_str=self.pattern, mergeable_ranks=self.ranks, special_tokens={})

        def encode(text: str) -> list[int]:
            text = unicodedata.normalize("NFC", text) if self.nfc else text
            return [self.first + rank for rank in encoding.encode(text)]

        return encode

    @cached_property
    def _merges(self) -> list[tuple[bytes, bytes]]:
        """Every pair that makes a token, in the order of the ranks."""
        pairs = []
        for token in self.ranks:
            halves = [(token[:at], token[at:]) for at in range(1, len(token))]
            mergeable = [(left, right) for left, right in halves if left in self.ranks and right in self.ranks]
            pairs += sorted(mergeable, key=lambda pair: (self.ranks[pair[0]], self.ranks[pair[1]]))
        return pairs


def read_tiktoken(content: bytes) -> dict[bytes, int]:
    """The ranks in a file of tiktoken's own form: a token in base64 and its rank, a line each."""
    lines = (line.split() for line in content.splitlines())
    return {base64.b64decode(token): int(rank) for token, rank in lines}
