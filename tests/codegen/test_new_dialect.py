"""A dialect of which nothing is known: its files are sound, and every command takes it."""

import json
from datetime import date
from pathlib import Path

import pytest
from support.project_copy import ProjectCopy
from support.serving import serving

from specvino.codegen.new_dialect import files
from specvino.codegen.source import SpecError
from specvino.codegen.spec import Spec

TITLE = "Text: Generation & Inference"


def test_every_command_takes_a_ninth_system(tmp_path: Path) -> None:
    copy = ProjectCopy(tmp_path)
    printed = copy.run("specvino.cli", "spec", "new-dialect", "tgi", "--title", TITLE)
    written = ("openapi/dialects/tgi.yaml", "upstream/tables/tgi.yaml", "openapi/vocabulary.yaml")
    assert printed.startswith("".join(f"Wrote {path}\n" for path in written))
    assert "specvino conform --dialect tgi URL" in printed

    copy.run("specvino.codegen")  # with the lint
    document = json.loads(copy.run("specvino.cli", "spec", "--dialect", "tgi"))
    assert document["info"]["title"] == f"The OpenAI-compatible API of {TITLE}"
    assert "/chat/completions" in document["paths"]
    levels = copy.run("specvino.cli", "spec", "explain", "chat.min_p")
    assert ["tgi", "unknown"] in [line.split() for line in levels.splitlines()]
    with serving("--engine", "scripted") as server:
        report = copy.run("specvino.cli", "conform", "--dialect", "tgi", server.url)
    assert "and the document of tgi" in report
    assert " 0 fail" in report


@pytest.mark.parametrize(
    ("name", "message"),
    [("TGI", "small letters"), ("../x", "small letters"), ("vllm", "already a dialect"), ("specvino", "this project")],
)
def test_a_name_that_can_not_be(real: Spec, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        files(real, name, name, tmp_path, date(2026, 1, 1))


def test_a_vocabulary_without_the_list(real: Spec, tmp_path: Path) -> None:
    (tmp_path / "openapi").mkdir()
    (tmp_path / "openapi" / "vocabulary.yaml").write_text("$defs: {}\n")
    with pytest.raises(SpecError, match=r"has no line `system: "):
        files(real, "tgi", "TGI", tmp_path, date(2026, 1, 1))
