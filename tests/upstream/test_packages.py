"""Sources come out of a folder or of a wheel, of which only the Python files of the package are unpacked."""

import importlib.metadata
import os
import zipfile
from pathlib import Path

import pydantic
import pytest

from specvino.upstream import packages
from specvino.upstream.described import Unreadable


def wheel(folder: Path, **files: str) -> Path:
    """Writes a wheel that pip takes."""
    path = folder / "tiny-1.0-py3-none-any.whl"
    about = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
    said = {"tiny-1.0.dist-info/METADATA": about, "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\n"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**said, **files}.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def index(tmp_path, monkeypatch) -> Path:
    """A folder that is all that pip knows."""
    folder: Path = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_wheel_is_unpacked_once(index, tmp_path) -> None:
    file = wheel(index, **{"tiny/__init__.py": "", "tiny/a/b.py": "B = 1", "tiny/big.so": "x", "other/c.py": ""})
    place = packages.from_index("tiny", "1.0", "tiny", tmp_path / "cache")
    assert place == tmp_path / "cache" / "tiny-1.0" / "tiny"
    assert sorted(path.name for path in place.rglob("*.*")) == ["__init__.py", "b.py"]
    assert sorted(path.name for path in place.parent.iterdir()) == ["tiny"]
    file.unlink()
    assert packages.from_index("tiny", "1.0", "tiny", tmp_path / "cache") == place


def test_a_path_that_leads_out_is_left(index, tmp_path) -> None:
    wheel(index, **{"tiny/__init__.py": "", "tiny/../../../out.py": ""})
    packages.from_index("tiny", "1.0", "tiny", tmp_path / "cache")
    assert not list(tmp_path.rglob("out.py"))


def test_what_the_index_does_not_have(index, tmp_path) -> None:
    with pytest.raises(Unreadable, match=r"^pip can't download tiny==2\.0: .*tiny==2\.0"):
        packages.from_index("tiny", "2.0", "tiny", tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_wheel_without_the_package(index, tmp_path) -> None:
    wheel(index, **{"other/__init__.py": ""})
    with pytest.raises(Unreadable, match=r"has no Python package tiny$"):
        packages.from_index("tiny", "1.0", "tiny", tmp_path / "cache")


@pytest.mark.parametrize("where", ["", "src", "python"])
def test_a_folder(tmp_path, where) -> None:
    (tmp_path / where / "tiny").mkdir(parents=True)
    (tmp_path / where / "tiny" / "__init__.py").touch()
    assert packages.in_folder(tmp_path, "tiny") == tmp_path / where / "tiny"
    assert packages.in_folder(tmp_path / where / "tiny", "tiny") == tmp_path / where / "tiny"


def test_a_folder_without_the_package(tmp_path) -> None:
    with pytest.raises(Unreadable, match=r"has no Python package tiny$"):
        packages.in_folder(tmp_path, "tiny")


def test_a_package_beside_is_in_the_folder_or_installed(tmp_path) -> None:
    version = importlib.metadata.version("pydantic")
    assert packages.beside(tmp_path, "pydantic", version, tmp_path) == Path(pydantic.__file__).parent
    (tmp_path / "pydantic").mkdir()
    (tmp_path / "pydantic" / "__init__.py").touch()
    assert packages.beside(tmp_path, "pydantic", version, tmp_path) == tmp_path / "pydantic"


def test_a_package_beside_of_another_version_is_from_the_index(index, tmp_path) -> None:
    file = wheel(index, **{"tiny/__init__.py": ""})
    version = file.name.split("-")[1]
    assert packages.beside(None, "tiny", version, tmp_path) == tmp_path / f"tiny-{version}" / "tiny"


def test_the_cache_can_be_moved(monkeypatch) -> None:
    monkeypatch.setenv("SPECVINO_CACHE", "/elsewhere")
    assert packages.cache() == Path("/elsewhere/upstream")
    monkeypatch.delenv("SPECVINO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert packages.cache() == Path("/caches/specvino/upstream")
