"""Llama 3's: byte-level BPE of 128,000 tokens and 256 control tokens."""

from models.vocabularies.byte_level import WORDS, ByteLevel, read_tiktoken
from models.vocabularies.family import Family, numbered
from models.vocabularies.packaged import Packaged

FILE = Packaged(
    "llama-models",
    "0.3.0",
    "llama_models/llama3/tokenizer.model",
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
)
_SIZE = 128_256
_NAMES = (
    "<|begin_of_text|>",
    "<|end_of_text|>",
    "<|reserved_special_token_0|>",
    "<|reserved_special_token_1|>",
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
)


def llama3() -> Family:
    ranks = read_tiktoken(FILE.bytes())
    reserved = (f"<|reserved_special_token_{2 + i}|>" for i in range(_SIZE - len(ranks) - len(_NAMES)))
    return Family(
        name="llama3",
        tokens=ByteLevel(ranks, WORDS % "{1,3}"),
        control=numbered(len(ranks), (*_NAMES, *reserved)),
        begin="<|begin_of_text|>",
        end="<|eot_id|>",
        pad="<|finetune_right_pad_id|>",
        model_size=_SIZE,
        template="llama3.jinja",
    )
