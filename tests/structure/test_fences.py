"""Fenced YAML, JSON, TOML and Python of the pages can be parsed: a reflow that joins its lines breaks it."""

import ast
import json
import re
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PARSERS: dict[str, Callable[[str], object]] = {
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "json": json.loads,
    "toml": tomllib.loads,
    "python": ast.parse,
}
FENCE = re.compile(r"^( *)```(\w+)[^\n]*\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def pages() -> Iterator[Path]:
    """Yields the Markdown files of the project, without those of installed packages and build folders."""
    yield from ROOT.glob("*.md")
    for folder in ROOT.iterdir():
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in ("build", "dist", "node_modules"):
            yield from (page for page in folder.rglob("*.md") if "node_modules" not in page.parts)


FENCES = [
    pytest.param(language, textwrap.dedent(code), id=f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, start) + 1}")
    for page in sorted(pages())
    for text in [page.read_text("utf-8")]
    for start, language, code in ((fence.start(), fence[2], fence[3]) for fence in FENCE.finditer(text))
    if language in PARSERS
]


@pytest.mark.parametrize(("language", "code"), FENCES)
def test_it_can_be_parsed(language: str, code: str) -> None:
    PARSERS[language](code)


def test_the_pages_have_fences() -> None:
    assert {fence.values[0] for fence in FENCES} >= {"yaml", "python"}
