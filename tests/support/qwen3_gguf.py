"""A GGUF file of 160 KB that OpenVINO GenAI loads: the shape of Qwen3, random weights, and bytes as tokens."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import gguf
import gguf.quants
import numpy as np
import numpy.typing

WIDTH, HEADS, HEAD, FEED, LAYERS, CONTEXT = 64, 2, 32, 64, 2, 512
END = "<|im_end|>"
TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}assistant:"


def write(
    path: Path,
    seed: int = 0,
    changes: Mapping[str, np.typing.NDArray[np.float32]] = MappingProxyType({}),
    architecture: str = "qwen3",
    quantization: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F16,
) -> Path:
    """Writes the file. Those of different seeds have different weights; `changes` are added to those of these names.
    Of another architecture, it is llama."""
    tokens = [*_letters(), END]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("random")
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{quantization.name}"])
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(1e6)
    writer.add_rope_dimension_count(HEAD)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * (len(tokens) - 1) + [gguf.TokenType.CONTROL])
    writer.add_token_merges(["a b"])
    for add in (writer.add_bos_token_id, writer.add_eos_token_id, writer.add_pad_token_id):
        add(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    generator = np.random.default_rng(seed)
    shapes = {"token_embd": (len(tokens), WIDTH)}
    for layer in range(LAYERS):
        shapes |= {f"blk.{layer}.attn_{name}": (HEADS * HEAD, WIDTH) for name in ("q", "k", "v")}
        shapes |= {f"blk.{layer}.attn_output": (WIDTH, HEADS * HEAD), f"blk.{layer}.ffn_down": (WIDTH, FEED)}
        shapes |= {f"blk.{layer}.ffn_{name}": (FEED, WIDTH) for name in ("gate", "up")}
    for name, shape in shapes.items():
        weights = generator.normal(0, 0.3, shape) + changes.get(f"{name}.weight", 0)
        stored = gguf.quants.quantize(weights.astype(np.float32), quantization)
        writer.add_tensor(f"{name}.weight", stored, raw_dtype=quantization)
    norms = {"output_norm": WIDTH}
    for layer in range(LAYERS):
        norms |= {f"blk.{layer}.{name}_norm": WIDTH for name in ("attn", "ffn")}
        if architecture == "qwen3":
            norms |= {f"blk.{layer}.attn_{name}_norm": HEAD for name in ("q", "k")}
    for name, size in norms.items():
        writer.add_tensor(f"{name}.weight", np.ones(size, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _letters() -> list[str]:
    """Returns GPT-2's names of the 256 bytes, and the one token that is merged."""
    shown = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in shown]
    return [*map(chr, shown), *(chr(256 + index) for index in range(len(others))), "ab"]
