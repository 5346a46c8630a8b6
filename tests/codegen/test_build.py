"""The files of generated/."""

import shutil
from pathlib import Path

import pytest

from specvino.codegen import __main__ as command
from specvino.codegen import build
from specvino.document.transforms import copied

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def rendered(real):
    before = copied(real)
    files = build.render(real)
    assert real == before
    return files


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
    named = {*real.dialects, *real.versions}
    assert {f"dialects/{system}.json" for system in named} == {n for n in rendered if n.startswith("dialects/")}


@pytest.fixture
def project(tmp_path):
    """A copy of the source and what is generated from it."""
    for folder in ("openapi", "generated"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def stopped(project, **options) -> str:
    """What the command says when it stops. `tests/portal/test_support_drives_all.py` has a whole run of it, as a
    process."""
    with pytest.raises(SystemExit) as exit:
        command.main(root=project, **options)
    assert isinstance(exit.value.code, str)  # which Python prints, with status 1
    return exit.value.code


def test_check_shows_drift_and_writes_nothing(project, rendered, monkeypatch) -> None:
    document = project / "generated" / "dialects" / "mlc-llm.json"
    document.write_text(document.read_text().replace("What MLC-LLM takes", "What MLC takes"))
    before = document.read_bytes()
    monkeypatch.setattr(command, "lint", lambda spec: [])  # both take seconds, and have tests of their own
    monkeypatch.setattr(build, "render", lambda spec: rendered)
    output = stopped(project, check=True)
    lines = [line.replace(" ", "") for line in output.splitlines()]
    assert '-"summary":"WhatMLCtakesandsends.",' in lines
    assert '+"summary":"WhatMLC-LLMtakesandsends.",' in lines
    assert "python -m specvino.codegen" in output
    assert document.read_bytes() == before
    build.write(rendered, project / "generated")
    command.main(check=True, root=project)


def test_what_is_written_has_no_drift(rendered, tmp_path) -> None:
    target = tmp_path / "generated"
    build.write(rendered, target)
    assert build.drift(rendered, target) == ""


def test_problems_stop_it(project) -> None:
    request = project / "openapi" / "schemas" / "chat" / "request.yaml"
    request.write_text(request.read_text().replace("maxItems: 4096", ""))
    assert stopped(project) == "bounds: CreateChatCompletionRequest/properties/messages: an array needs maxItems"


@pytest.mark.parametrize(
    ("change", "words"), [("openapi: [", "openapi.yaml"), ("paths: {/a: {$ref: b.yaml}}", "b.yaml: No such file")]
)
def test_a_source_that_can_not_be_read(project, change, words) -> None:
    (project / "openapi" / "openapi.yaml").write_text(change)
    assert words in stopped(project)
