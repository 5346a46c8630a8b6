"""Mistral 7B v0.3's: SentencePiece of 32,768 tokens, with bytes for what has no token."""

from models.vocabularies.family import Family
from models.vocabularies.packaged import Packaged
from models.vocabularies.sentence_pieces import AsBPE, WithOwnDetokenizer

FILE = Packaged(
    "mistral-common",
    "1.13.1",
    "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3",
    "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33",
)


def mistral() -> Family:
    return _family("mistral", AsBPE(FILE.bytes()))


def mistral_with_own_detokenizer() -> Family:
    return _family("mistral_with_own_detokenizer", WithOwnDetokenizer(FILE.bytes()))


def _family(name: str, tokens: AsBPE) -> Family:
    return Family(
        name=name,
        tokens=tokens,
        control=tokens.control,
        begin="<s>",
        end="</s>",
        pad="<unk>",
        model_size=32_768,
        template="mistral.jinja",
    )
