"""Where a model's folder has chat templates, as transformers lays them out."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDERS = ("additional_chat_templates", "chat_templates")
"""Where further templates lie beside `chat_template.jinja`, each in a file of its name."""

_TOOL_USE = "tool_use"


@dataclass(frozen=True, slots=True)
class TemplateTexts:
    """Holds the templates of a model. `tool_use` is for conversations with tools, None where `default` is for all. An
    empty `default` is none."""

    default: str = ""
    tool_use: str | None = None


def read_templates(folder: Path, own: str) -> TemplateTexts:
    """Returns the templates of a model: those of files beside it, then those with names in tokenizer_config.json, then
    what the tokenizer has as its `own`. Raises OSError and UnicodeDecodeError for a file that can't be read."""
    named = _named(folder / "tokenizer_config.json")
    for each in FOLDERS:
        named |= {file.stem: _read(file) for file in sorted((folder / each).glob("*.jinja"))}
    file = folder / "chat_template.jinja"
    default = _read(file) if file.is_file() else named.get("default", own)
    return TemplateTexts(default, named.get(_TOOL_USE))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _named(config: Path) -> dict[str, str]:
    try:
        said: Any = json.loads(config.read_bytes()) if config.is_file() else {}
    except ValueError:
        return {}
    listed = said.get("chat_template") if isinstance(said, dict) else None
    if not isinstance(listed, list):
        return {}  # a single one is the tokenizer's own
    return {each["name"]: each["template"] for each in listed if _is_named(each)}


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("template"), str)
