"""The chat templates in a model's folder, in the layout of transformers."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDERS = ("additional_chat_templates", "chat_templates")
"""The folders of other templates next to `chat_template.jinja`, each in a file of its name."""

_TOOL_USE = "tool_use"


@dataclass(frozen=True, slots=True)
class TemplateTexts:
    """The templates of a model. `tool_use` is for conversations with tools; None if `default` is for all. An empty
    `default` means that there is none."""

    default: str = ""
    tool_use: str | None = None


def read_templates(folder: Path, own: str) -> TemplateTexts:
    """Returns a model's templates: those of files in its folder, else the named ones in tokenizer_config.json, else the
    tokenizer's `own`. Raises OSError and UnicodeDecodeError for a file that can't be read."""
    named = _named(folder / "tokenizer_config.json")
    for name in FOLDERS:
        named |= {file.stem: _read(file) for file in sorted((folder / name).glob("*.jinja"))}
    file = folder / "chat_template.jinja"
    default = _read(file) if file.is_file() else named.get("default", own)
    return TemplateTexts(default, named.get(_TOOL_USE))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _named(config: Path) -> dict[str, str]:
    try:
        content: Any = json.loads(config.read_bytes()) if config.is_file() else {}
    except ValueError:
        return {}
    templates = content.get("chat_template") if isinstance(content, dict) else None
    if not isinstance(templates, list):
        return {}  # a single template is the tokenizer's own
    return {template["name"]: template["template"] for template in templates if _is_named(template)}


def _is_named(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and isinstance(value.get("template"), str)
