"""specvino spec drift: exit codes, formats, and one line for what can't be read."""

import json

import pytest
from support.drifting import TABLE, document, sources
from typer.testing import CliRunner

from specvino.cli import main
from specvino.upstream import table as tables


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose document of vLLM is the tiny one, and the table of the tiny system."""
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "vllm.yaml").write_text(TABLE)
    monkeypatch.setattr(tables, "files", lambda _: tmp_path)
    (tmp_path / "known.yaml").write_text("[]")
    sources(tmp_path / "sources")
    return tmp_path


def drift(project, *arguments, ours=None):
    (project / "generated" / "dialects").mkdir(parents=True, exist_ok=True)
    for name in ("openapi.json", "dialects/vllm.json"):
        (project / "generated" / name).write_text(json.dumps(ours or document()))
    given = ["--dialect", "vllm", "--root", str(project), "--allowed", str(project / "known.yaml"), *arguments]
    if "--source" not in arguments and "--package-version" not in arguments:
        given += ["--source", str(project / "sources")]
    return CliRunner(env={"COLUMNS": "200"}).invoke(main, ["spec", "drift", *given])


def without_null():
    changed = document()
    changed["components"]["schemas"]["Request"]["properties"]["seed"] = {"type": "integer", "minimum": 5}
    return changed


def test_no_difference(project) -> None:
    run = drift(project)
    assert run.exit_code == 0, run.output
    assert run.output.startswith("vllm: no differences to review.")


def test_differences(project) -> None:
    run = drift(project, ours=without_null())
    assert run.exit_code == 1
    assert run.output.startswith("vllm: 1 difference to review.")
    assert "chat.seed" in run.output


def test_known_differences(project) -> None:
    (project / "known.yaml").write_text("[{field: chat.seed, only: system, reason: The engine refuses it.}]")
    run = drift(project, ours=without_null())
    assert (run.exit_code, run.output.count("in addition to 1 known")) == (0, 1)
    run = drift(project)
    assert run.exit_code == 1
    assert "no longer allows anything: chat.seed, only system" in run.output


def test_one_part(project) -> None:
    assert drift(project, "--only", "chat.response", ours=without_null()).exit_code == 0
    run = drift(project, "--only", "completions")
    assert run.exit_code == 2
    assert "nothing to compare under completions" in run.output


def test_formats(project) -> None:
    assert json.loads(drift(project, "--format", "json", ours=without_null()).output)["count"] == 1
    assert drift(project, "--format", "markdown").output.startswith("# Drift: vllm: no differences")
    run = drift(project, "-o", str(project / "report.md"), ours=without_null())
    assert (run.exit_code, run.output) == (1, "")
    assert "| chat.seed | null |" in (project / "report.md").read_text()


def test_an_openapi_document(project) -> None:
    file = project / "theirs.json"
    file.write_text(json.dumps(document()))
    assert drift(project, "--source", str(file)).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--source", "/nowhere"], "/nowhere has no Python package tiny"),
        (["--allowed", "/nowhere.yaml"], "/nowhere.yaml can't be read"),
        (["--root", "/nowhere"], "/nowhere/generated/dialects/vllm.json can't be read"),
        (["-o", "/nowhere/report.md"], "/nowhere/report.md can't be written"),
        (["--dialect", "ovms"], "the classes of ovms are unknown"),
    ],
)
def test_what_can_not_be_read(project, arguments, words) -> None:
    (project / "generated" / "dialects").mkdir(parents=True)
    (project / "generated" / "dialects" / "ovms.json").write_text(json.dumps(document()))
    run = drift(project, *arguments)
    assert run.exit_code == 2
    assert words in run.output
    assert run.output.count("\n") == 1


def test_a_folder_and_a_version(project) -> None:
    run = drift(project, "--source", "x", "--package-version", "1")
    assert run.exit_code == 2
    assert "--package-version and --source can't be combined" in run.output


def test_a_system_that_is_none(project) -> None:
    run = drift(project, "--dialect", "nobody")
    assert run.exit_code == 2
    assert "unknown dialect 'nobody'" in run.output


def test_a_system_that_is_not_in_python() -> None:
    run = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["spec", "drift", "--dialect", "ovms"])
    assert run.exit_code == 2
    assert "give the folder with its sources with --source" in " ".join(run.output.split())
