import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.serving import Server, serving

from specvino.engine.models import ModelSource

SPECVINO = [sys.executable, "-m", "specvino.cli"]


@pytest.fixture(scope="session")
def server(smollm2: ModelSource) -> Iterator[Server]:
    with serving(str(smollm2.path), "--served-model-name", "smollm2") as server:
        yield server


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a client package by the command, once each."""
    made: dict[tuple[str, ...], Path] = {}

    def make(*what: str) -> Path:
        if what not in made:
            folder = tmp_path_factory.mktemp("package") / "client"
            subprocess.run([*SPECVINO, "sdk", *what, "-o", str(folder)], check=True)
            made[what] = folder
        return made[what]

    return make
