"""Writes a family's tiny model as an OpenVINO folder."""

import json
from pathlib import Path

import openvino
from models.vocabularies.family import Family
from models.vocabularies.language_model import language_model
from openvino_tokenizers.utils import change_inputs_type, change_outputs_type, update_rt_info_with_environment

CONTEXT = 4096


def build(family: Family, folder: Path) -> None:
    """The folder is there and empty."""
    tokenizer, detokenizer = family.tokens.models(family)
    tokenizer = change_outputs_type(tokenizer, openvino.Type.i64)
    detokenizer = change_inputs_type(detokenizer, openvino.Type.i64)
    # Where GenAI looks for them.
    facts = {"eos_token_id": family.control[family.end], "pad_token_id": family.control[family.pad]}
    if family.begin:
        facts["bos_token_id"] = family.control[family.begin]
    for model in (tokenizer, detokenizer):
        update_rt_info_with_environment(model)  # without a version GenAI takes it for one that knows no special tokens
        for name, value in {**facts, "chat_template": family.chat_template}.items():
            model.set_rt_info(value, name)
    openvino.save_model(tokenizer, folder / "openvino_tokenizer.xml")
    openvino.save_model(detokenizer, folder / "openvino_detokenizer.xml")
    openvino.save_model(language_model(family.model_size), folder / "openvino_model.xml")
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": CONTEXT, **facts}))
    (folder / "generation_config.json").write_text(json.dumps(facts))
