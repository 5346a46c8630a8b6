"""A copy of the project whose document can be changed, with commands that run its code."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from structure.imports import FOLDERS, PROJECT


class ProjectCopy:
    def __init__(self, root: Path) -> None:
        self.root = root
        package = root / "package" / "specvino"
        package.mkdir(parents=True)
        for folder in (*FOLDERS, "openapi"):
            shutil.copytree(PROJECT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
        for folder in FOLDERS:
            (package / folder).symlink_to(root / folder)

    def run(self, *arguments: object) -> str:
        """Runs a module in the copy's folder, which must succeed, and returns what it prints."""
        return self._python("-m", *map(str, arguments))

    def run_code(self, code: str) -> str:
        """Runs a program there, as `run` does a module."""
        return self._python("-c", code)

    def _python(self, *arguments: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(self.root / "package")}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.root, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
