"""Schemas that libraries write for some two dozen types. `generate.mjs` and `generate.py` run libraries; files whose
`tool` says so are written by hand, as their languages can't run here.

`exceptions.yaml` has what a strict request is refused for. `python -m samples.libraries` writes it anew.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from specvino.engine.grammar import GrammarError, lower_json_schema

FOLDER = Path(__file__).parent
EXCEPTIONS = FOLDER / "exceptions.yaml"


def schemas() -> Iterator[tuple[str, str, Any]]:
    """Yields library, type and schema."""
    for file in sorted(FOLDER.glob("*.json")):
        for name, schema in json.loads(file.read_text("utf-8"))["schemas"].items():
            yield file.stem, name, schema


def refusal(schema: Any) -> str | None:
    """Returns the error of a strict request; None if all of the schema is enforced."""
    try:
        lower_json_schema(schema, strict=True)
    except GrammarError as error:
        return f"{'.'.join(map(str, error.path))}: {error}"
    return None


def known() -> dict[str, dict[str, str]]:
    content: dict[str, dict[str, str]] = yaml.safe_load(EXCEPTIONS.read_text("utf-8"))
    return content
