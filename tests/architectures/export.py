# /// script
# requires-python = ">=3.11,<3.13"
# dependencies = ["nncf>=3.4", "openvino-tokenizers>=2026.4.1", "optimum-intel>=2.2", "torch==2.13.0"]
#
# [tool.uv]
# override-dependencies = ["torchvision; python_version < '0'"]
# ///
"""Exports a model with random weights by optimum-intel: `export.py SPECIFICATION FOLDER`.

SPECIFICATION is a JSON file with the keys of `Specification`; FOLDER is the new OpenVINO folder. It needs no
torchvision, whose wheels on PyPI require CUDA.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, TypedDict

import nncf
import openvino
import torch
from optimum.exporters.openvino import main_export
from optimum.intel import OVConfig
from transformers import AddedToken, AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer


class Specification(TypedDict):
    """`config` and `processor`, the settings of images or None, are those of transformers. `tokenizer` is a folder,
    which lacks the tokens `control` (special ones) and `markup`. `token_ids` are settings of `config` that are the ids
    of these tokens, `end` is the token that ends a turn, `template` the chat template. `weights` is fp16, int8 or int4.
    """

    config: dict[str, Any]
    processor: dict[str, Any] | None
    tokenizer: str
    control: list[str]
    markup: list[str]
    token_ids: dict[str, str]
    end: str
    template: str
    weights: str


# The settings of `optimum-cli export openvino --weight-format` (optimum-intel 2.2.0): with int4, the embeddings and the
# output have 8 bits. Its function main_export has no such setting.
_COMPRESSED: dict[str, dict[str, Any]] = {
    "int8": {"mode": nncf.CompressWeightsMode.INT8_ASYM},
    "int4": {"mode": nncf.CompressWeightsMode.INT4_ASYM, "group_size": 128, "ratio": 1.0},
}
_IMAGES = "preprocessor_config.json"


def export(specification: Specification, folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(specification["tokenizer"])
    control = [AddedToken(text, special=True, normalized=False) for text in specification["control"]]
    tokenizer.add_tokens(control, special_tokens=True)
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in specification["markup"]])
    tokenizer.eos_token = specification["end"]
    tokenizer.chat_template = specification["template"]

    settings = specification["config"]
    settings.get("text_config", settings)["vocab_size"] = -(-len(tokenizer) // 64) * 64
    for name, token in specification["token_ids"].items():
        settings[name] = tokenizer.convert_tokens_to_ids(token)
    processor = specification["processor"]
    torch.manual_seed(0)
    config = AutoConfig.for_model(**settings)
    try:
        model = AutoModelForImageTextToText.from_config(config)
    except ValueError:  # it's none of these
        model = AutoModelForCausalLM.from_config(config)
    model.eval()
    for weights in model.parameters():
        if weights.ndim > 1 and not weights.any():  # Gemma 3's projection of images: they would have no effect
            torch.nn.init.normal_(weights, std=0.2)
    model.generation_config.eos_token_id = tokenizer.eos_token_id

    with tempfile.TemporaryDirectory() as source:
        model.save_pretrained(source)
        del model  # the export loads it again
        tokenizer.save_pretrained(source)
        if processor:
            Path(source, _IMAGES).write_text(json.dumps(processor))
        main_export(
            source,
            output=folder,
            task="image-text-to-text" if processor else "text-generation-with-past",
            library_name="transformers",
            convert_tokenizer=True,
            ov_config=OVConfig(dtype="fp16"),
        )
    if specification["weights"] != "fp16":
        _compress(folder, **_COMPRESSED[specification["weights"]])
    if processor:
        # transformers 5 writes processor_config.json instead, which GenAI 2026.4.1 doesn't read.
        (folder / _IMAGES).write_text(json.dumps(processor))


def _compress(folder: Path, **settings: Any) -> None:
    """Replaces the model by one with fewer bits, which mustn't overwrite the file that it is read from."""
    model = nncf.compress_weights(openvino.Core().read_model(folder / "openvino_model.xml"), **settings)
    with tempfile.TemporaryDirectory(dir=folder) as compressed:
        openvino.save_model(model, Path(compressed, "openvino_model.xml"))
        for file in Path(compressed).iterdir():
            file.replace(folder / file.name)


if __name__ == "__main__":
    export(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]))
