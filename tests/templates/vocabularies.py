"""Tokenizers of large models as their makers publish them, and as OpenVINO runs them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openvino
from openvino_tokenizers import convert_tokenizer
from support.tokenizer_packages import CONFIG, TOKENIZER, tokenizer_folder
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from templates.corpus import corpus

_MODELS = ("openvino_tokenizer.xml", "openvino_detokenizer.xml")


@dataclass(frozen=True)
class Vocabulary:
    """`package` is the name of its package. `template` is the corresponding one of the corpus; None means the package's
    own.
    """

    package: str
    template: str | None = None

    @property
    def chat_template(self) -> str:
        return corpus()[self.template] if self.template else str(self._config["chat_template"])

    @property
    def tokens(self) -> Mapping[str, str]:
        """The variables of special tokens that templates use."""
        named = {name: self._config.get(name) for name in ("bos_token", "eos_token")}
        return {name: token["content"] if isinstance(token, dict) else token for name, token in named.items() if token}

    def reference(self) -> Tokenizer:
        return Tokenizer.from_file(str(tokenizer_folder(self.package) / TOKENIZER))

    def build(self, folder: Path) -> None:
        """Writes OpenVINO's files and transformers' own into an existing empty folder."""
        tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder(self.package))
        tokenizer.chat_template = self.chat_template
        tokenizer.save_pretrained(folder)
        for name, model in zip(_MODELS, convert_tokenizer(tokenizer, with_detokenizer=True), strict=True):
            openvino.save_model(model, folder / name)

    @property
    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads((tokenizer_folder(self.package) / CONFIG).read_text("utf-8"))
        return config


VOCABULARIES = {
    "qwen3": Vocabulary("qwen3", "Qwen-Qwen3-0.6B"),
    "llama3.1": Vocabulary("llama3_1", "meta-llama-Llama-3.1-8B-Instruct"),
    "gemma3": Vocabulary("gemma3"),
    "deepseek-v3": Vocabulary("deepseek_v3", "deepseek-ai-DeepSeek-V3.1"),
    "gpt-oss": Vocabulary("gptoss", "openai-gpt-oss-120b"),
}
