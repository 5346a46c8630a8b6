"""Local files: below the folder, and nowhere else."""

import os
from pathlib import Path

import pytest

from specvino.handlers.media import files
from specvino.handlers.media.rules import MAX_BYTES, InvalidImage, InvalidUrl


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    (folder / "more").mkdir(parents=True)
    (folder / "a.png").write_bytes(b"a")
    (folder / "more" / "b c.png").write_bytes(b"b")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "images-too").mkdir()
    (tmp_path / "images-too" / "a.png").write_bytes(b"secret")
    return folder


@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("{}/a.png", b"a"),
        ("file://{}/a.png", b"a"),
        ("FILE://localhost{}/a.png", b"a"),
        ("file://{}/more/b%20c.png", b"b"),
        ("{}/more/../a.png", b"a"),
        ("a.png", b"a"),
        ("more/b c.png", b"b"),
    ],
)
def test_what_is_read(folder: Path, url: str, content: bytes) -> None:
    assert files.read(url.format(folder), folder) == content


@pytest.mark.parametrize(
    "url",
    [
        "{}/../secret",
        "{}-too/a.png",
        "file://{}/../secret",
        "file://{}/%2e%2e/secret",
        "../secret",
        "/etc/passwd",
        "/proc/self/environ",
        "file:///etc/passwd",
        "a\0.png",
    ],
)
def test_what_is_outside(folder: Path, url: str) -> None:
    with pytest.raises(InvalidUrl) as refusal:
        files.read(url.format(folder), folder)
    assert str(folder) not in str(refusal.value)


def test_another_machine_s_file(folder: Path) -> None:
    with pytest.raises(InvalidUrl, match="host"):
        files.read(f"file://host{folder}/a.png", folder)


def test_links_lead_no_further_than_paths(folder: Path) -> None:
    (folder / "inside").symlink_to(folder / "a.png")
    assert files.read("inside", folder) == b"a"
    (folder / "outside").symlink_to(folder.parent / "secret")
    (folder / "up").symlink_to(folder.parent)
    (folder / "circle").symlink_to(folder / "circle")
    for name in ("outside", "up/secret", "circle"):
        with pytest.raises((InvalidUrl, InvalidImage)):
            files.read(name, folder)


def test_the_folder_may_be_a_link(folder: Path) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    assert files.read(f"{link}/a.png", link) == b"a"
    assert files.read(f"{folder}/a.png", link) == b"a"


def test_a_link_that_comes_between_looking_and_opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = os.open

    def exchanged(path: Path, flags: int) -> int:
        path.unlink()
        path.symlink_to(folder.parent / "secret")
        return opening(path, flags)

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(InvalidImage, match="can't be read"):
        files.read("a.png", folder)


def test_what_is_no_file(folder: Path) -> None:
    os.mkfifo(folder / "pipe")  # opening it must not wait for a writer
    for name, reason in (("pipe", "not a regular file"), ("more", "not a regular file"), ("missing", "can't be read")):
        with pytest.raises(InvalidImage, match=reason):
            files.read(name, folder)


def test_the_bound_on_bytes(folder: Path) -> None:
    with (folder / "big").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InvalidImage, match="bytes"):
        files.read("big", folder)
    os.truncate(folder / "big", MAX_BYTES)
    assert len(files.read("big", folder)) == MAX_BYTES
