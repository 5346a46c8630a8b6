"""What is downloaded where the package and the image are made is pinned: to a commit, or to hashes."""

import re

import pytest

from structure.imports import PROJECT

# Actions without a commit, and why (SECURITY.md has them, too).
MOVING = {"pypa/gh-action-pypi-publish": "release/v1"}

LOCKS = ("containers/requirements/serve.txt", "containers/requirements/serve,ray.txt", ".github/release.txt")


def test_actions_are_pinned_to_commits() -> None:
    files = [*PROJECT.glob(".github/workflows/*.yml"), PROJECT / "action.yml"]
    used = [line for file in files for line in re.findall(r"uses: +(?!\./)(.+)", file.read_text("utf-8"))]
    moving = {line for line in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line)}
    assert len(used) > 10
    assert moving == {f"{name}@{branch}" for name, branch in MOVING.items()}
    assert all(name in (PROJECT / "SECURITY.md").read_text("utf-8") for name in MOVING)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_of_a_lock_has_hashes_and_its_version_in_constraints(lock: str) -> None:
    text = (PROJECT / lock).read_text("utf-8")
    requirements = [line for line in re.split(r"\n(?=\S)", text.strip()) if not line.startswith("#")]
    assert requirements
    assert [line for line in requirements if not re.search(r"--hash=sha256:[0-9a-f]{64}", line)] == []
    versions = dict(line.split("==") for line in re.findall(r"^[\w.-]+==[\w.]+", text, re.MULTILINE))
    locked = re.findall(r"^([\w.-]+)==([\w.]+)", (PROJECT / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    several = {name for name, _ in locked if sum(name == other for other, _ in locked) > 1}
    others = {name: version for name, version in locked if name in versions.keys() - several}
    assert {name: versions[name] for name in others} == others


def test_the_image_and_the_release_install_by_hashes() -> None:
    containerfile = (PROJECT / "containers" / "Containerfile").read_text("utf-8")
    installs = re.findall(r"-m pip install (.*(?:\\\n.*)*)", containerfile)
    assert len(installs) == 2
    assert all("--require-hashes" in one or "--no-deps --no-build-isolation" in one for one in installs)
    package = (PROJECT / ".github" / "workflows" / "package.yml").read_text("utf-8")
    assert "--require-hashes --requirement .github/release.txt" in package
    assert "python -m build --no-isolation" in package
