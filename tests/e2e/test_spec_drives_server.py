"""Changing one bound in a YAML file and regenerating changes what the server does, with no other edit."""

import shutil
from pathlib import Path

import httpx
from structure.imports import FOLDERS
from support.app import MINIMAL, error_of
from support.serving import serving

from specvino.codegen import build
from specvino.codegen.spec import read

PROJECT = Path(__file__).parents[2]


def test_a_bound_in_the_yaml_is_a_bound_of_the_server(tmp_path) -> None:
    package = tmp_path / "package" / "specvino"
    package.mkdir(parents=True)
    for folder in {*FOLDERS} - {"generated"}:
        (package / folder).symlink_to(PROJECT / folder)
    shutil.copytree(PROJECT / "generated", package / "generated", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PROJECT / "openapi", tmp_path / "openapi")

    sampling = tmp_path / "openapi" / "schemas" / "sampling.yaml"
    text = sampling.read_text()
    assert text.count("maximum: 2\n    default: 1") == 1
    sampling.write_text(text.replace("maximum: 2\n    default: 1", "maximum: 1.5\n    default: 1"))
    build.write(build.render(read(tmp_path / "openapi")), package / "generated")

    env = {"PYTHONPATH": str(tmp_path / "package")}
    with serving("--engine", "scripted", "--served-model-name", "m", env=env) as server:
        error = error_of(
            httpx.post(f"{server.url}/chat/completions", json=MINIMAL | {"temperature": 1.8}),
            400,
            "decimal_above_max_value",
        )
        assert "at most 1.5" in error["message"]
        assert httpx.post(f"{server.url}/chat/completions", json=MINIMAL | {"temperature": 1.5}).status_code == 200
