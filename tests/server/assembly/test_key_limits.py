"""The limits of keys, from options and the file of keys."""

from pathlib import Path

import pytest

from specvino.handlers.allowance import KeyLimits
from specvino.server.access import KeyFileError, KeyLine, owner, read_keys
from specvino.server.assembly.key_limits import kept_of_keys, key_limits
from specvino.server.assembly.options import OptionError, ServeOptions
from specvino.server.assembly.storage import Kept

OPTIONS = ServeOptions(key_requests_per_minute=60, key_max_num_seqs=4)


def test_a_key_may_have_limits_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("one\ntwo requests-per-minute=9 tokens-per-minute=1000\n three\tmax-num-seqs=none \n")
    file.chmod(0o600)
    assert key_limits(read_keys(file), OPTIONS) == {
        owner(b"one"): KeyLimits(60, None, 4),
        owner(b"two"): KeyLimits(9, 1000, 4),
        owner(b"three"): KeyLimits(60, None, None),
    }
    assert key_limits(read_keys(file), ServeOptions())[owner(b"two")] == KeyLimits(9, 1000, None)


@pytest.mark.parametrize(
    "word",
    [
        "secret",
        "requests-per-minute",
        "requests-per-minute=",
        "requests-per-minute=0",
        "requests-per-minute=-1",
        f"requests-per-minute={'9' * 5000}",
        f"stored-gb={'9' * 400}",
        "requests-per-minute=1.5",
        "requests-per-minute=\u0661",
        "requests=1",
        "stored-gb=0",
        "stored-gb=1e3",
        "stored-days=0.0001",
        "stored-days=",
        "=none",
    ],
)
def test_only_limits_may_follow_a_key(word: str) -> None:
    with pytest.raises(KeyFileError, match="expected LIMIT=NUMBER or LIMIT=none after the key") as caught:
        key_limits({"key": KeyLine("keys, line 7", ("max-num-seqs=1", word))}, ServeOptions())
    assert "keys, line 7: " in str(caught.value)
    assert "secret" not in str(caught.value)


def test_what_is_stored_of_a_key_may_have_limits_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("one\ntwo stored-gb=0.5 requests-per-minute=9\nthree stored-days=1.5 stored-gb=none\n")
    file.chmod(0o600)
    keys = read_keys(file)
    assert kept_of_keys(keys, Kept(30, 1)) == {owner(b"two"): Kept(30, 0.5), owner(b"three"): Kept(1.5, None)}
    assert key_limits(keys, OPTIONS)[owner(b"two")] == KeyLimits(9, None, 4)
    assert key_limits(keys, OPTIONS)[owner(b"three")] == KeyLimits(60, None, 4)


def test_limits_need_keys() -> None:
    with pytest.raises(OptionError, match="--api-key-file"):
        key_limits({}, OPTIONS)
    assert key_limits({}, ServeOptions()) == {}
