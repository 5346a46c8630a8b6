"""The templates and the workflows of .github, and the action, by their schemas, which check-jsonschema brings."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(sys.executable).parent
GITHUB = Path(__file__).parents[2] / ".github"
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        *(("vendor.github-issue-forms", form) for form in FORMS),
        ("vendor.github-issue-config", GITHUB / "ISSUE_TEMPLATE" / "config.yml"),
        *(("vendor.github-workflows", workflow) for workflow in sorted((GITHUB / "workflows").iterdir())),
        ("vendor.github-actions", GITHUB.parent / "action.yml"),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_it_fits_its_schema(schema: str, file: Path) -> None:
    check = [str(PROGRAMS / "check-jsonschema"), "--builtin-schema", schema, str(file)]
    run = subprocess.run(check, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout
