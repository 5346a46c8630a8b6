"""Changing one bound in a YAML file and regenerating changes what the server does, with no other edit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
from support.app import MINIMAL, error_of
from support.serving import serving

PROJECT = Path(__file__).parents[2]
FOLDERS = ("cli", "codegen", "conformance", "engine", "generated", "handlers", "server")


def test_a_bound_in_the_yaml_is_a_bound_of_the_server(tmp_path) -> None:
    package = tmp_path / "package" / "specvino"
    package.mkdir(parents=True)
    for folder in (*FOLDERS, "openapi"):
        shutil.copytree(PROJECT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in FOLDERS:
        (package / folder).symlink_to(tmp_path / folder)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "package")}

    sampling = tmp_path / "openapi" / "schemas" / "sampling.yaml"
    text = sampling.read_text()
    assert text.count("maximum: 2\n    default: 1") == 1
    sampling.write_text(text.replace("maximum: 2\n    default: 1", "maximum: 1.5\n    default: 1"))
    subprocess.run([sys.executable, "-m", "specvino.codegen", "--root", tmp_path], env=env, check=True)

    with serving("--engine", "scripted", "--served-model-name", "m", env=env) as server:
        error = error_of(
            httpx.post(f"{server.url}/chat/completions", json=MINIMAL | {"temperature": 1.8}),
            400,
            "decimal_above_max_value",
        )
        assert "at most 1.5" in error["message"]
        assert httpx.post(f"{server.url}/chat/completions", json=MINIMAL | {"temperature": 1.5}).status_code == 200
