"""Qwen's: byte-level BPE of 151,643 tokens, with the control tokens and tags of Qwen 3."""

from models.vocabularies.byte_level import WORDS, ByteLevel, read_tiktoken
from models.vocabularies.family import Family, numbered
from models.vocabularies.packaged import Packaged

FILE = Packaged(
    "dashscope",
    "2.0.2",
    "dashscope/resources/qwen.tiktoken",
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
)
_CONTROL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
_TAGS = (
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
)


def qwen() -> Family:
    ranks = read_tiktoken(FILE.bytes())
    return Family(
        name="qwen",
        tokens=ByteLevel(ranks, WORDS % "", nfc=True),
        control=numbered(len(ranks), _CONTROL),
        tags=numbered(len(ranks) + len(_CONTROL), _TAGS),
        end="<|im_end|>",
        pad="<|endoftext|>",
        model_size=151_936,  # rounded up: the last 267 have no text
        template="qwen.jinja",
    )
