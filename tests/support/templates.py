"""The tiny model with another chat template."""

import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from specvino.engine.models import ModelSource

OWN = (Path(__file__).parents[1] / "models" / "tiny_text_template.jinja").read_text("utf-8")

THINKING = OWN.rstrip().removesuffix("{%- endif %}") + "{{ '<think>\\n' }}{%- endif %}"
"""Begins the reasoning."""


def with_template(model: ModelSource, folder: Path, template: str) -> ModelSource:
    """A copy of the model in a folder, which has to be empty."""
    shutil.copytree(model.path, folder, dirs_exist_ok=True)
    file = folder / "openvino_tokenizer.xml"
    tokenizer = ElementTree.parse(file)
    index = tokenizer.find(".//rt_info/chat_template")
    assert index is not None
    index.set("value", template)
    tokenizer.write(file)
    return replace(model, path=folder)
