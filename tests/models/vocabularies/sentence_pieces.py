"""SentencePiece's BPE: tokens are texts, in which "▁" is a space, and <0x00> to <0xFF> are bytes, for characters that
aren't tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy
import openvino
import sentencepiece
from models.vocabularies.family import Family, combining, subgraphs
from openvino import opset15
from openvino_tokenizers import _get_factory
from openvino_tokenizers.constants import UTF8ReplaceMode
from openvino_tokenizers.tokenizer_pipeline import (
    BPETokenizationStep,
    ByteFallbackStep,
    FuseStep,
    RegexDecodingStep,
    RegexNormalizationStep,
    SpecialTokensSplit,
    UTF8ValidateStep,
    VocabDecoderStep,
)

_UNKNOWN = "<unk>"


@dataclass(frozen=True)
class SentencePieces:
    """`content` is the maker's file."""

    content: bytes

    @cached_property
    def control(self) -> dict[str, int]:
        """The control tokens that the file names."""
        pieces = self._processor
        ids = [id for id in range(pieces.vocab_size()) if pieces.is_control(id) or pieces.is_unknown(id)]
        return {pieces.id_to_piece(id): id for id in ids}

    def reference(self, family: Family) -> Callable[[str], list[int]]:
        encode: Callable[[str], list[int]] = self._processor.encode
        return encode

    @cached_property
    def _processor(self) -> sentencepiece.SentencePieceProcessor:
        return sentencepiece.SentencePieceProcessor(model_proto=self.content)


class AsBPE(SentencePieces):
    """By OpenVINO's own BPE: what becomes of Hugging Face's tokenizers of such models."""

    def models(self, family: Family) -> tuple[openvino.Model, openvino.Model]:
        pieces = self._processor
        tokens = [pieces.id_to_piece(id) for id in range(pieces.vocab_size())]
        bpe = BPETokenizationStep(
            tokens,
            self._merges(tokens),
            unk_token=_UNKNOWN,
            fuse_unk=True,
            byte_fallback=True,
            added_tokens=family.added,
        )
        return subgraphs(
            [
                SpecialTokensSplit.from_string_iter(family.added),
                RegexNormalizationStep.prepend_regex("▁"),
                RegexNormalizationStep.replace_spaces_metaspace(),
                bpe,
                *combining(family),
                VocabDecoderStep(skip_tokens=list(family.control.values())),
                RegexDecodingStep("▁", " "),
                ByteFallbackStep(),
                FuseStep(),
                RegexDecodingStep.strip_forward_space(),
                UTF8ValidateStep(UTF8ReplaceMode.REPLACE),
            ]
        )

    def _merges(self, tokens: list[str]) -> list[tuple[str, str]]:
        """Every pair that makes a token, those of the best scores first."""
        pieces = self._processor
        plain = {token: id for id, token in enumerate(tokens) if not (pieces.is_control(id) or pieces.is_byte(id))}
        pairs = []
        for token in sorted(plain, key=lambda token: -pieces.get_score(plain[token])):
            halves = [(token[:at], token[at:]) for at in range(1, len(token))]
            mergeable = [(left, right) for left, right in halves if left in plain and right in plain]
            pairs += sorted(mergeable, key=lambda pair: (plain[pair[0]], plain[pair[1]]))
        return pairs


class WithOwnDetokenizer(AsBPE):
    """Its texts are made by SentencePiece's own code, which OpenVINO has inside."""

    def models(self, family: Family) -> tuple[openvino.Model, openvino.Model]:
        tokenizer, _ = super().models(family)
        file = opset15.constant(numpy.frombuffer(self.content, numpy.uint8))
        tokens = opset15.parameter([-1, -1], openvino.Type.i32)
        text = _get_factory().create("SentencepieceDetokenizer", [file.output(0), tokens.output(0)]).outputs()
        return tokenizer, openvino.Model([opset15.string_tensor_pack(*text)], [tokens], "detokenizer")
