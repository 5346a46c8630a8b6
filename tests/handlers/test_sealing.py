"""Seals, and the key that is kept."""

import stat

import pytest

from specvino.handlers.sealing import ForeignSeal, Sealer


def test_only_the_same_key_opens_a_seal(tmp_path):
    file = tmp_path / "folder" / "key"
    sealed = Sealer.from_file(file).seal("thoughts é 🎉")
    assert "thoughts" not in sealed
    assert Sealer.from_file(file).open(sealed) == "thoughts é 🎉"
    with pytest.raises(ForeignSeal):
        Sealer().open(sealed)


@pytest.mark.parametrize(
    "change", [lambda s: s[:-5] + "AAAA=", lambda s: s[: len(s) // 2], lambda s: "", lambda s: "é"]
)
def test_a_changed_seal(change):
    sealer = Sealer()
    with pytest.raises(ForeignSeal):
        sealer.open(change(sealer.seal("thoughts")))


def test_the_key_is_the_owner_s_alone(tmp_path):
    Sealer.from_file(tmp_path / "key")
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_no_key(tmp_path):
    (tmp_path / "key").write_text("short")
    with pytest.raises(ValueError, match="key"):
        Sealer.from_file(tmp_path / "key")
