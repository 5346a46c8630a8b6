"""The files of generated/."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specvino.codegen import build

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rendered(real):
    return build.render(real)


def test_generated_is_what_openapi_gives(rendered) -> None:
    assert build.drift(rendered, ROOT / "generated") == ""


def test_write_and_drift(tmp_path) -> None:
    target = tmp_path / "generated"
    files = {"a.py": "x = 1\n", "b.py": ""}
    assert "+x = 1" in build.drift(files, target)
    build.write(files, target)
    assert build.drift(files, target) == ""
    (target / "old.py").write_text("y = 2\n")
    assert "-y = 2" in build.drift(files, target)
    (target / "b.py").unlink()
    assert "+++ b/b.py" in build.drift(files, target)
    build.write(files, target)
    assert sorted(path.name for path in target.iterdir()) == ["a.py", "b.py"]


def test_files_in_folders(tmp_path) -> None:
    files = {"a.py": "", "below/b.json": "{}\n"}
    build.write(files, tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").touch()
    assert build.drift(files, tmp_path) == ""
    (tmp_path / "below" / "old.json").write_text("1\n")
    assert "a/below/old.json" in build.drift(files, tmp_path)
    build.write(files, tmp_path)
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["b.json"]


def test_each_system_has_its_document(rendered, real) -> None:
    assert {f"dialects/{system}.json" for system in real.dialects} == {n for n in rendered if n.startswith("dialects/")}


@pytest.fixture
def project(tmp_path):
    """A copy of the source and what is generated from it."""
    for folder in ("openapi", "generated"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def codegen(project, *options):
    command = [sys.executable, "-m", "specvino.codegen", "--root", project, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_check_shows_drift_and_writes_nothing(project) -> None:
    """In the document of one system: to compare all of them takes seconds."""
    source = project / "openapi" / "dialects" / "mlc-llm.yaml"
    source.write_text(source.read_text().replace("name: MLC-LLM\n", "name: MLC\n"))
    document = project / "generated" / "dialects" / "mlc-llm.json"
    before = document.read_bytes()
    run = codegen(project, "--check")
    assert run.returncode == 1
    lines = [line.replace(" ", "") for line in run.stderr.splitlines()]
    assert '-"summary":"WhatMLC-LLMtakesandsends.",' in lines
    assert '+"summary":"WhatMLCtakesandsends.",' in lines
    assert "python -m specvino.codegen" in run.stderr
    assert document.read_bytes() == before


def test_what_is_written_has_no_drift(real, rendered, tmp_path) -> None:
    target = tmp_path / "generated"
    build.write(rendered, target)
    assert build.drift(build.render(real), target) == ""


def test_problems_stop_it(project) -> None:
    request = project / "openapi" / "schemas" / "chat" / "request.yaml"
    request.write_text(request.read_text().replace("maxItems: 4096", ""))
    run = codegen(project)
    assert run.returncode == 1
    assert run.stderr == "bounds: CreateChatCompletionRequest/properties/messages: an array needs maxItems\n"


@pytest.mark.parametrize(
    ("change", "words"), [("openapi: [", "openapi.yaml"), ("paths: {/a: {$ref: b.yaml}}", "b.yaml: No such file")]
)
def test_a_source_that_can_not_be_read(project, change, words) -> None:
    (project / "openapi" / "openapi.yaml").write_text(change)
    run = codegen(project)
    assert run.returncode == 1
    assert words in run.stderr
    assert "Traceback" not in run.stderr
