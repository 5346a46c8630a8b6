"""The examples in the packages' own READMEs: against the default model, and each system's Python client against
our server in that system's dialect."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.exhaustive import sampled
from support.serving import Server, serving
from support.typescript import compiled, project, ran

from specvino.document.loading import systems
from specvino.sdk.document import document_of
from specvino.sdk.package import OWN_SERVER, Package, describe

KEY = "sk-sdk"
MODEL = "m"


@pytest.fixture(params=sampled([None, *systems()], None, "vllm"), ids=str)
def described(request: pytest.FixtureRequest) -> Package:
    return describe(request.param, document_of(request.param))


def example(folder: Path, language: str, package: Package, server: Server) -> str:
    """As the README has it, but for the server and the model that a service has."""
    code: str
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", (folder / "README.md").read_text("utf-8"), re.M | re.S)
    assert code.count(package.url) == 1
    ours = server.url if package.key else package.url.replace(OWN_SERVER, server.url.removesuffix("/v1"))
    code = code.replace(package.url, ours)
    return code.replace(package.model, "smollm2") if package.model else code


def options(package: Package) -> list[str]:
    return ["--dialect", package.dialect] if package.dialect else []


def judge(printed: str) -> None:
    answer, stream, error = printed.splitlines()
    assert answer == stream == "The capital of Germany is Berlin."
    assert error == "404 invalid_request_error model model_not_found"


def key(package: Package) -> dict[str, str]:
    return {package.key: "any"} if package.key else {}


def test_python(package: Callable[..., Path], server: Server) -> None:
    described = describe(None, document_of(None))
    judge(run(example(package("python"), "python", described, server), package("python"), {}))


@pytest.mark.parametrize("system", sampled(systems(), "ovms", "vllm"))
def test_python_of_a_system(package: Callable[..., Path], system: str) -> None:
    """The client requires what the system always sends, which our server sends in that dialect alone."""
    described = describe(system, document_of(system))
    folder = package("python", "--dialect", system)
    options = ("--engine", "scripted", "--served-model-name", MODEL, "--dialect", system)
    with serving(*options, env={"SPECVINO_API_KEY": KEY}) as server:
        url = server.url
        code = (folder / "README.md").read_text("utf-8").partition("```python\n")[2].partition("```")[0]
        code = code.replace(f'Client("{described.url}"', f'Client("{url}"')
        if described.key:
            code = code.replace(str(described.model), MODEL)
        else:
            code = code.replace(f'Client("{url}"', f'Client("{url}", api_key="{KEY}"')
        answer, stream, *error = run(code, folder, {described.key: KEY} if described.key else {}).splitlines()
    assert answer == stream
    assert answer not in ("", "None")
    documented = document_of(system)["paths"]["/chat/completions"]["post"]["responses"]
    assert [line.split()[0] for line in error if line.split()[0] not in documented] == []
    # The example asks for a model that isn't there, which some systems don't look at.
    statuses = document_of(system)["x-dialect"]["errors"]["statuses"]
    assert len(error) <= 1
    assert error or statuses["unknown_model"] is None


def run(code: str, folder: Path, environment: dict[str, str]) -> str:
    """What it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(folder / "src")} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_typescript(package: Callable[..., Path], described: Package, server: Server, tmp_path: Path) -> None:
    folder = package("typescript", *options(described))
    project(tmp_path, compiled(folder), described.name)
    (tmp_path / "example.ts").write_text(example(folder, "ts", described, server))
    judge(ran("example", folder=tmp_path, environment=key(described)))


def test_a_service_is_spoken_to_with_a_key_of_the_environment() -> None:
    openai, ovms = describe("openai", document_of("openai")), describe("ovms", document_of("ovms"))
    assert (openai.url, openai.key) == ("https://api.openai.com/v1", "OPENAI_API_KEY")
    assert (ovms.url, ovms.key) == ("http://127.0.0.1:8000/v3", None)
