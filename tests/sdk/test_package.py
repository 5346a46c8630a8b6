"""How a package's files get onto the disk."""

from pathlib import Path

import pytest

from specvino.sdk.package import MADE, TargetError, write


def test_a_package_takes_the_place_of_another(tmp_path: Path) -> None:
    write({"README.md": "old", "src/one/client.py": "old"}, tmp_path)
    (tmp_path / "dist").mkdir()
    write({"README.md": "new", "src/two/client.py": "new"}, tmp_path)
    assert (tmp_path / "README.md").read_text() == "new"
    assert (tmp_path / "src" / "two" / "client.py").exists()
    assert not (tmp_path / "src" / "one" / "client.py").exists()
    assert (tmp_path / "dist").exists()


def test_what_somebody_else_made_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("precious")
    with pytest.raises(TargetError, match="something else"):
        write({"README.md": "new"}, tmp_path)
    assert (tmp_path / "README.md").read_text() == "precious"


@pytest.mark.parametrize("name", ["../precious", "{folder}/precious"])
def test_nothing_outside_is_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / "precious").write_text("data")
    target = tmp_path / "client"
    write({"README.md": "old"}, target)
    (target / MADE).write_text(name.format(folder=tmp_path))
    write({"README.md": "new"}, target)
    assert (tmp_path / "precious").exists()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "client").write_text("")
    with pytest.raises(TargetError, match="can't be written"):
        write({"README.md": "new"}, tmp_path / "client")
