"""Where keys are read from, and whom they belong to."""

import logging
from pathlib import Path

import pytest

from specvino.server.access import ENVIRONMENT, KeyFileError, owner, read_keys


def written(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "keys"
    file.write_text(text, "utf-8")
    file.chmod(mode)
    return file


def test_one_a_line(tmp_path, caplog) -> None:
    file = written(tmp_path, "# of the team\none\n\n  two \n  # old: three\n#four\nfi#ve\n")
    places = {key: line.origin.removeprefix(f"the API key file {file}, ") for key, line in read_keys(file).items()}
    assert places == {"one": "line 2", "two": "line 4", "fi#ve": "line 7"}
    assert caplog.messages == []


@pytest.mark.parametrize("text", ["", "\n \n", "# one\n"])
def test_a_file_without_a_key_is_a_mistake(tmp_path, text) -> None:
    with pytest.raises(KeyFileError, match="contains no key"):
        read_keys(written(tmp_path, text))


def test_a_file_that_is_no_text(tmp_path) -> None:
    (tmp_path / "keys").write_bytes(b"one\ntwo\xff\n")
    with pytest.raises(KeyFileError, match="keys, line 2: the line isn't UTF-8"):
        read_keys(tmp_path / "keys")


def test_a_key_is_in_one_line(tmp_path) -> None:
    """Else its limits would be those of the last one."""
    with pytest.raises(KeyFileError, match="keys, line 3: duplicate key"):
        read_keys(written(tmp_path, "one requests-per-minute=1\ntwo\none\n"))


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path) -> None:
    assert read_keys(written(tmp_path, "\ufeffone\n")).keys() == {"one"}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o666])
def test_a_file_that_others_can_open_is_warned_of(tmp_path, caplog, mode) -> None:
    with caplog.at_level(logging.WARNING):
        assert read_keys(written(tmp_path, "one", mode)).keys() == {"one"}
    (line,) = caplog.messages
    assert f"{mode:03o}" in line
    assert "one" not in line.replace(str(tmp_path), "")


def test_the_environment(monkeypatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    assert read_keys(None) == {}
    monkeypatch.setenv(ENVIRONMENT, " one ")
    assert read_keys(None) == {"one": (f"the environment variable {ENVIRONMENT}", ())}


@pytest.mark.parametrize("value", ["", " ", "\n"])
def test_a_blank_variable_is_a_mistake(monkeypatch, value) -> None:
    monkeypatch.setenv(ENVIRONMENT, value)
    with pytest.raises(KeyFileError, match="SPECVINO_API_KEY is blank"):
        read_keys(None)


def test_an_owner_does_not_tell_the_key() -> None:
    assert owner(b"one") == owner(b"one") != owner(b"two")
    assert len(owner(b"one")) == 32, "as long as its column"
    assert owner(b"one") not in ("", "one")
