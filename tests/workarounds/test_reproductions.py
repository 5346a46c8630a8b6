"""Every workaround is still needed. One that fails here can be deleted, with its record and its script."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "decisions" / "reproductions"
SCRIPTS = sorted(path.name for path in FOLDER.glob("[0-9]*.py"))

STILL_NEEDED, CANNOT_TELL = 0, 2  # exit codes, as in verdict.py

# The scripts that take Linux, and 003 two cores that aren't busy. The others can tell on any machine.
MAY_NOT_TELL = {"003_a_fork_computes_on_one_core.py", "006_compiled_grammars_are_kept.py"}


def test_the_scripts_that_may_not_tell_are_there() -> None:
    assert set(SCRIPTS) >= MAY_NOT_TELL


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_workaround_is_still_needed(script: str) -> None:
    done = subprocess.run([sys.executable, FOLDER / script], capture_output=True, text=True, timeout=300)
    verdict = done.stdout.strip() or done.stderr.strip()
    if script in MAY_NOT_TELL and done.returncode == CANNOT_TELL and verdict.startswith("can't tell here"):
        pytest.skip(verdict)
    assert done.returncode == STILL_NEEDED, verdict
    assert verdict.startswith("still needed: ")
