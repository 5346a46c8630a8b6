"""Where a model's folder has chat templates."""

import json
from pathlib import Path
from typing import Any

import pytest

from specvino.engine.chat_template.files import TemplateTexts, read_templates

NAMED = [
    {"name": "default", "template": "named"},
    {"name": "tool_use", "template": "for tools"},
    {"name": "rag", "template": "for documents"},
    {"name": "broken"},
    "broken",
]


def configured(folder: Path, value: Any) -> None:
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": value}))


def test_the_tokenizer_s_own(tmp_path: Path) -> None:
    assert read_templates(tmp_path, "own") == TemplateTexts("own")
    assert read_templates(tmp_path / "model.gguf", "own") == TemplateTexts("own")
    configured(tmp_path, "of the configuration, which the tokenizer has read")
    assert read_templates(tmp_path, "own") == TemplateTexts("own")
    (tmp_path / "tokenizer_config.json").write_text("{")
    assert read_templates(tmp_path, "own") == TemplateTexts("own")


def test_templates_with_names(tmp_path: Path) -> None:
    configured(tmp_path, NAMED)
    assert read_templates(tmp_path, "own") == TemplateTexts("named", "for tools")
    configured(tmp_path, NAMED[1:])
    assert read_templates(tmp_path, "own") == TemplateTexts("own", "for tools")


@pytest.mark.parametrize("folder", ["additional_chat_templates", "chat_templates"])
def test_files_beside_the_model_win(tmp_path: Path, folder: str) -> None:
    configured(tmp_path, NAMED)
    (tmp_path / "chat_template.jinja").write_text("file: é", encoding="utf-8")
    assert read_templates(tmp_path, "own") == TemplateTexts("file: é", "for tools")
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "tool_use.jinja").write_text("file for tools")
    assert read_templates(tmp_path, "own") == TemplateTexts("file: é", "file for tools")
