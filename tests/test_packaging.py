"""The wheel holds every package and what they read."""

import tomllib
import zlib
from importlib.resources import files
from pathlib import Path

from specvino.document.loading import whole

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


def test_the_wheel_stays_small() -> None:
    """Its files, compressed as a wheel has them, are less than 3.5 MB; a third of that is the script of /docs, and
    0.3 MB are the descriptions of other systems' sources."""
    setuptools = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]
    size = 0
    for package in setuptools["packages"]:
        _, top, *below = package.split(".")
        folder = PROJECT.joinpath(setuptools["package-dir"][f"specvino.{top}"], *below)
        patterns = {"*.py", *setuptools["package-data"]["*"], *setuptools["package-data"].get(package, ())}
        files = {file for pattern in patterns for file in folder.glob(pattern) if file.is_file()}
        assert files, package
        size += sum(len(zlib.compress(file.read_bytes())) for file in files)
    assert 1_000_000 < size < 3_500_000
