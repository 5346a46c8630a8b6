"""The Go client: compiled with the standard library alone, but for WebSockets, and used."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.examples import ADDRESS, ROOT
from support.serving import Server, serving

from specvino.document.loading import systems
from specvino.engine.models import ModelSource
from specvino.sdk import go
from specvino.sdk.document import document_of, methods
from specvino.sdk.foreign.adapting import adapted
from specvino.sdk.foreign.reading import describe_document
from specvino.sdk.package import describe, write

PAGE = ROOT / "docs" / "sdk.md"
KEY = "sk-sdk"

# Of WebSockets, Debian's golang-github-gorilla-websocket-dev has the source.
WEBSOCKET = "github.com/gorilla/websocket"
SOURCES = Path(os.environ.get("GOCODE", "/usr/share/gocode")) / "src"
REPLACED = f"-replace={WEBSOCKET}={SOURCES / WEBSOCKET}"

# Nothing is downloaded, neither a module nor another Go.
ENVIRONMENT = os.environ | {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}


def tool(*command: str, folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a command prints; it succeeds."""
    settings = ENVIRONMENT | (environment or {})
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a client package by the command, once each."""
    made: dict[tuple[str, ...], Path] = {}

    def make(*what: str) -> Path:
        if what not in made:
            made[what] = tmp_path_factory.mktemp("package") / "client"
            tool(sys.executable, "-m", "specvino.cli", "sdk", "go", *what, "-o", str(made[what]), folder=Path.cwd())
            tool("go", "mod", "edit", REPLACED, folder=made[what])
        return made[what]

    return make


@pytest.fixture(scope="module")
def server(smollm2: ModelSource) -> Iterator[Server]:
    with serving(str(smollm2.path), "--served-model-name", "smollm2") as server:
        yield server


def compiled(folder: Path) -> Path:
    tool("go", "vet", "./...", folder=folder)
    assert tool("gofmt", "-l", ".", folder=folder) == ""
    return folder


@pytest.mark.parametrize("system", [None, *systems()], ids=str)
def test_it_compiles(package: Callable[..., Path], system: str | None) -> None:
    folder = compiled(package(*(["--dialect", system] if system else [])))
    required = re.findall(r"(?m)^require (\S+)", (folder / "go.mod").read_text("utf-8"))
    assert required == [WEBSOCKET for method in methods(document_of(system)) if method.socket]


def test_it_is_tested_in_go(package: Callable[..., Path], tmp_path: Path) -> None:
    folder = shutil.copytree(package(), tmp_path / "client")
    for file in Path(__file__).parent.glob("*_test.go"):
        shutil.copy(file, folder)
    printed = tool("go", "test", "./...", folder=folder)
    assert "no test files" not in printed


def program(folder: Path, code: str, name: str, client: Path, **environment: str) -> str:
    """What a program beside the client prints."""
    folder.mkdir()
    (folder / "main.go").write_text(code, "utf-8")
    (folder / "go.mod").write_text("module app\n\ngo 1.18\n")
    tool("go", "mod", "edit", "-require", f"{name}@v0.0.0", "-replace", f"{name}={client}", REPLACED, folder=folder)
    tool("go", "vet", ".", folder=folder)
    return tool("go", "run", ".", folder=folder, environment=environment)


@pytest.mark.parametrize("system", [None, *systems()], ids=str)
def test_the_readme(package: Callable[..., Path], system: str | None, tmp_path: Path) -> None:
    """Its example works on our server in the system's dialect."""
    described = describe(system, document_of(system))
    folder = package(*(["--dialect", system] if system else []))
    (code,) = re.findall(r"^```go\n(.*?)^```$", (folder / "README.md").read_text("utf-8"), re.M | re.S)
    assert code.count(described.url) == 1
    options = ("--engine", "scripted", "--served-model-name", described.model or "m")
    dialect = ("--dialect", system) if system else ()
    with serving(*options, *dialect) as server:
        code = code.replace(described.url, server.url)
        environment = {described.key: KEY} if described.key else {}
        answer, stream, *error = program(tmp_path / "app", code, described.name, folder, **environment).splitlines()
    assert answer == stream == "What is the capital of Germany?"
    # Some systems answer for any model, some by what its name looks like.
    said = document_of(system)["x-dialect"]["errors"]["statuses"]["unknown_model"] if system else 404
    statuses = said if isinstance(said, list) else [said]
    assert (error[0].split()[0] if error else "None") in map(str, statuses)


def test_the_page(package: Callable[..., Path], server: Server, tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```go\n(.*?)^```\n\n```text title=\"The program prints\"\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S
    )
    for number, (code, prints) in enumerate(blocks):
        code = code.replace(ADDRESS, server.url.removesuffix("/v1"))
        assert program(tmp_path / str(number), code, "specvino-client", package()) == prints
    assert len(blocks) == 2


def test_grouped_names_that_clash(tmp_path: Path) -> None:
    """With methods of a group, with those of the client in Go's spelling, and with other groups' types."""
    thing = answered({"type": "object"})
    operations = {
        "/chat/completions": "create_chat_completion",
        "/chat/completions/parse/tree": "make_tree",
        "/models/all": "Models",
        "/a_b/c": "make_one",
        "/a/b_c": "make_other",
        "/key": "make_key",
    }
    paths = {
        path: {"post": {"operationId": id, "summary": id, "requestBody": thing, "responses": {"200": thing}}}
        for path, id in operations.items()
    }
    document = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths}
    write(go.generate(adapted(document).document, describe_document(document, "file")), tmp_path)
    compiled(tmp_path)
    source = (tmp_path / "client.go").read_text("utf-8")
    assert re.findall(r"(?m)^type (\w+)Service struct", source) == ["ChatCompletions", "Chat", "ABC", "AB", "A", "Key"]
    assert re.findall(r"(?m)^\t(\w+) \w+Service$", source) == ["Chat", "AB", "A", "Key2", "Completions", "C"]


def answered(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def test_another_document(tmp_path: Path) -> None:
    """Names that Go or the package itself uses, and texts that would be code elsewhere."""
    evil = 'x"""*/ `pwned`\n{{{pwned}}} \u2028\npwned()\\ \\"'
    names = ("type", "func", "ctx", "Client", "body", "a-b", "Raw", evil)
    thing = {
        "type": "object",
        "description": evil,
        "properties": {name: {"type": "string", "description": evil} for name in names},
    }
    paths = {
        f"/v1/{name}/{{{name}}}": {
            "post": {
                "operationId": name,
                "summary": evil,
                "parameters": [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}}],
                "requestBody": answered({"$ref": f"#/components/schemas/{name}"}),
                "responses": {"200": answered({"oneOf": [{"$ref": "#/components/schemas/Client"}, {"type": "null"}]})},
            }
        }
        for name in ("type", "func", "ctx", "key", "Client")
    }
    document = {
        "openapi": "3.1.0",
        "info": {"title": evil, "version": "1"},
        "paths": paths,
        "components": {"schemas": dict.fromkeys(("type", "func", "ctx", "key", "Client", "Stream"), thing)},
    }
    write(go.generate(adapted(document).document, describe_document(document, "file")), tmp_path)
    tool("go", "vet", "./...", folder=tmp_path)
    sources = "".join(file.read_text("utf-8") for file in tmp_path.glob("*.go"))
    lines = [line.strip() for line in sources.splitlines() if "pwned" in line]
    assert any(line.startswith("//") for line in lines)
    assert [line for line in lines if not line.startswith(("//", "package ", "const userAgent = ", "baseURL = "))] == []
    assert len(re.findall(r"^func \(c \*Client\) [A-Z]", sources, re.M)) == len(paths)
