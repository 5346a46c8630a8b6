"""The compliance suite of Open Responses, by its own command, on the tiny model that sees images and calls tools.

`OPEN_RESPONSES` is a folder with the suite's source; without it, git clones COMMIT of REPOSITORY.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.node import installed
from support.serving import serving

REPOSITORY = "https://github.com/openresponses/openresponses"
COMMIT = "92c12d96d7b61d6d15e2214daa5e9c6000ab6e1c"
NODE = Path(__file__).parent / "node"
TESTS = 17


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite's source, with the packages of node/ instead of its own, which it needs for other things."""
    folder = tmp_path_factory.mktemp("open_responses") / "suite"
    if source := os.environ.get("OPEN_RESPONSES"):
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns("node_modules", ".git"))
    else:
        subprocess.run(["git", "clone", "--quiet", REPOSITORY, str(folder)], check=True)
        subprocess.run(["git", "checkout", "--quiet", COMMIT], cwd=folder, check=True)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(installed(NODE))
    return folder


def test_all_of_it(suite: Path, greedy_vision: Path) -> None:
    (bun,) = (suite / "node_modules" / "@oven").glob("*/bin/bun")
    with serving(str(greedy_vision), "--served-model-name", "tiny") as server:
        command = [str(bun), "run", "bin/compliance-test.ts", "--json"]
        command += ["--base-url", server.url, "--api-key", "none", "--model", "tiny"]
        ran = subprocess.run(command, cwd=suite, stdout=subprocess.PIPE, text=True, check=False)
    report = json.loads(ran.stdout)
    failed = {result["id"]: result["errors"] for result in report["results"] if result["status"] != "passed"}
    assert failed == {}
    assert report["summary"]["passed"] == TESTS
