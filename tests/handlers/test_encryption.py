"""Encrypted texts, and the key that is kept."""

import stat

import pytest

from specvino.handlers.encryption import Cipher, NotDecryptable


def test_only_the_same_key_decrypts(tmp_path) -> None:
    file = tmp_path / "folder" / "key"
    encrypted = Cipher.from_file(file).encrypt("reasoning é 🎉")
    assert "reasoning" not in encrypted
    assert Cipher.from_file(file).decrypt(encrypted) == "reasoning é 🎉"
    with pytest.raises(NotDecryptable):
        Cipher().decrypt(encrypted)


@pytest.mark.parametrize(
    "change", [lambda s: s[:-5] + "AAAA=", lambda s: s[: len(s) // 2], lambda s: "", lambda s: "é"]
)
def test_a_changed_text(change) -> None:
    cipher = Cipher()
    with pytest.raises(NotDecryptable):
        cipher.decrypt(change(cipher.encrypt("reasoning")))


def test_the_key_is_the_owner_s_alone(tmp_path) -> None:
    Cipher.from_file(tmp_path / "key")
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_file_that_is_no_key(tmp_path) -> None:
    (tmp_path / "key").write_text("short")
    with pytest.raises(ValueError, match="key"):
        Cipher.from_file(tmp_path / "key")
