import importlib
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.postgresql import postgresql
from support.replicas import deployed
from support.serving import Server, serving

from specvino.engine.models import ModelSource

SPECVINO = [sys.executable, "-m", "specvino.cli"]
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]

HELPERS = Path(__file__).with_name("python")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--through-ray", action="store_true", help="two replicas behind Ray's proxy instead of one server")


@pytest.fixture(scope="session")
def server(
    smollm2: ModelSource, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    options = (str(smollm2.path), "--served-model-name", "smollm2")
    if not request.config.getoption("--through-ray"):
        with serving(*options) as server:
            yield server
        return
    with (
        postgresql(tmp_path_factory.mktemp("postgresql")) as database,
        deployed(*options, "--cache-size", "2", "--replicas", "2", "--response-store", database) as server,
    ):
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


@pytest.fixture
def imported(package: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """The package of a system."""

    def made(system: str) -> ModuleType:
        folder = package("python", "--dialect", system) / "src"
        monkeypatch.syspath_prepend(folder)
        (name,) = (path.name for path in folder.iterdir() if (path / "py.typed").exists())
        return importlib.import_module(name)

    return made


@pytest.fixture(scope="session")
def wheel(package: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python package, built."""
    folder = tmp_path_factory.mktemp("wheels")
    subprocess.run([*PIP, "wheel", "--no-deps", "-w", str(folder), str(package("python"))], check=True)
    (wheel,) = folder.glob("specvino_client-*.whl")
    return wheel


@pytest.fixture(scope="session")
def script(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """Runs programs on the built package and what it declares to need: no other package can be imported."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run([*PIP, "install", "--target", str(folder), str(wheel)], check=True)

    def run(text: str, url: str = "") -> list[str]:
        """Runs a program that has the clients, `ApiError`, `URL` and the modules of python/; gives what it prints."""
        names = [name for name in ("ApiError", "AsyncClient", "Client") if re.search(rf"\b{name}\b", text)]
        head = f"from specvino_client import {', '.join(names) or 'Client'}\nURL = {url!r}\n"
        done = subprocess.run(
            [sys.executable, "-S", "-W", "error", "-c", head + textwrap.dedent(text)],
            env={"PYTHONPATH": os.pathsep.join([str(folder), str(HELPERS)]), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout.splitlines()

    return run
