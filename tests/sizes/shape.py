"""A model of a published shape with random weights, as a GGUF file with a published tokenizer."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter
from support.tokenizer_packages import CONFIG, TOKENIZER, tokenizer_folder

from specvino.engine.models.cache import cache_folder

CONTEXT = 40_960
BLOCK = 32
"""Weights that have a scale of their own."""


@dataclass(frozen=True)
class Shape:
    """What shapes.yaml says of a model. Widths are numbers of weights; `head` is the width of one head. `draft` is a
    smaller model with the same tokens.
    """

    name: str
    architecture: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    feed: int
    tied: bool
    rope: float
    tokenizer: str
    pre: str
    prompts: tuple[int, ...]
    streams: tuple[int, ...]
    draft: str | None = None

    def written(self) -> Path:
        """Returns the file, which is made unless the cache has it."""
        path = cache_folder() / "sizes" / f"{self.name}-q4_0.gguf"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(".unfinished")
            self._write(unfinished)
            unfinished.rename(path)
        return path

    def _write(self, path: Path) -> None:
        writer = GGUFWriter(path, self.architecture)
        writer.add_name(self.name)
        writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
        writer.add_context_length(CONTEXT)
        writer.add_embedding_length(self.width)
        writer.add_block_count(self.layers)
        writer.add_feed_forward_length(self.feed)
        writer.add_head_count(self.heads)
        writer.add_head_count_kv(self.kv_heads)
        writer.add_key_length(self.head)
        writer.add_value_length(self.head)
        writer.add_rope_dimension_count(self.head)
        writer.add_rope_freq_base(self.rope)
        writer.add_layer_norm_rms_eps(1e-6)
        tokens = _add_tokenizer(writer, tokenizer_folder(self.tokenizer), self.pre)
        matrices, norms = dict(self._matrices(tokens)), dict(self._norms())
        for name, (rows, columns) in matrices.items():
            shape = (rows, columns // BLOCK * 18)
            kind = np.dtype(np.uint8)
            writer.add_tensor_info(name, shape, kind, rows * shape[1], raw_dtype=GGMLQuantizationType.Q4_0)
        for name, size in norms.items():
            writer.add_tensor_info(name, (size,), np.dtype(np.float32), 4 * size)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        drawn = np.random.default_rng(0)
        for rows, columns in matrices.values():
            writer.write_tensor_data(_q4_0(drawn, rows, columns))
        for size in norms.values():
            writer.write_tensor_data(np.ones(size, np.float32))
        writer.close()

    def _matrices(self, tokens: int) -> Iterator[tuple[str, tuple[int, int]]]:
        yield "token_embd.weight", (tokens, self.width)
        if not self.tied:
            yield "output.weight", (tokens, self.width)
        queries, keys = self.heads * self.head, self.kv_heads * self.head
        for layer in range(self.layers):
            for name, shape in {
                "attn_q": (queries, self.width),
                "attn_k": (keys, self.width),
                "attn_v": (keys, self.width),
                "attn_output": (self.width, queries),
                "ffn_gate": (self.feed, self.width),
                "ffn_up": (self.feed, self.width),
                "ffn_down": (self.width, self.feed),
            }.items():
                yield f"blk.{layer}.{name}.weight", shape

    def _norms(self) -> Iterator[tuple[str, int]]:
        yield "output_norm.weight", self.width
        for layer in range(self.layers):
            yield f"blk.{layer}.attn_norm.weight", self.width
            yield f"blk.{layer}.ffn_norm.weight", self.width
            if self.architecture == "qwen3":
                yield f"blk.{layer}.attn_q_norm.weight", self.head
                yield f"blk.{layer}.attn_k_norm.weight", self.head


def _q4_0(drawn: np.random.Generator, rows: int, columns: int) -> np.ndarray[Any, Any]:
    """Draws blocks of a scale (float16) and 16 bytes of two weights each, -8 to 7 times the scale."""
    blocks = drawn.integers(0, 256, (rows * columns // BLOCK, 18), np.uint8)
    # An output stays as large as the input, so that no layer overflows.
    scale = np.array([1 / (4.6 * columns**0.5)], np.float16)
    blocks[:, :2] = scale.view(np.uint8)
    return blocks.reshape(rows, columns // BLOCK * 18)


def _add_tokenizer(writer: GGUFWriter, folder: Path, pre: str) -> int:
    """Adds a byte-level tokenizer, and returns the number of tokens."""
    tokenizer = json.loads((folder / TOKENIZER).read_text("utf-8"))
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    ids: dict[str, int] = dict(tokenizer["model"]["vocab"])
    control = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    ids |= control
    names = {id: token for token, id in ids.items()}
    tokens = [names.get(id, f"<unused{id}>") for id in range(max(names) + 1)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    kinds = gguf.TokenType
    writer.add_token_types([kinds.CONTROL if token in control else kinds.NORMAL for token in tokens])
    merges = tokenizer["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    end = ids[_content(config["eos_token"])]
    writer.add_eos_token_id(end)
    writer.add_bos_token_id(ids[_content(config["bos_token"])] if config.get("bos_token") else end)
    writer.add_pad_token_id(ids[_content(config["pad_token"])] if config.get("pad_token") else end)
    writer.add_add_bos_token(False)
    writer.add_chat_template(config["chat_template"])
    return len(tokens)


def _content(token: str | Mapping[str, Any]) -> str:
    return token if isinstance(token, str) else str(token["content"])
