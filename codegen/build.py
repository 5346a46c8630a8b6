"""The whole way from openapi/ to the files of generated/."""

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from specvino.codegen import lower
from specvino.codegen.bundle import Bundler
from specvino.codegen.emit import classes, tables
from specvino.codegen.emit.documents import to_json
from specvino.codegen.merge import merge_errors, merge_support
from specvino.codegen.source import SpecError, load

INIT = '"""Written by specvino.codegen from openapi/. Do not edit."""\n'


@dataclass(frozen=True, slots=True)
class Spec:
    """The source put together: the bundled and merged document, the error codes, the dialects by system."""

    document: dict[str, Any]
    errors: dict[str, Any]
    dialects: dict[str, dict[str, Any]]


def read(source: Path) -> Spec:
    """Reads the folder openapi/. Raises SpecError."""
    root = source / "openapi.yaml"
    if not root.is_file():
        raise SpecError(f"{root} does not exist: run this in the project's folder, or name it with --root")
    document = Bundler(root).run()
    errors = load(source / "errors.yaml")
    dialects = {file.stem: load(file) for file in sorted((source / "dialects").glob("*.yaml"))}
    merge_errors(document, errors)
    merge_support(document, dialects)
    return Spec(document, errors, dialects)


def render(spec: Spec) -> dict[str, str]:
    """The files of generated/ by name."""
    document = spec.document
    return {
        "__init__.py": INIT,
        "py.typed": "",
        "openapi.json": to_json(document),
        "openapi-3.1.json": to_json(lower.to_31(document)),
        "routes.json": to_json(lower.to_routes(document)),
        "models.py": classes.models(document),
        "wire.py": classes.wire(document),
        "handlers.py": tables.handlers(document),
        "errors.py": tables.errors(spec.errors),
        "support.py": tables.support(document),
        "streams.py": tables.streams(document),
    }


def write(files: dict[str, str], target: Path) -> None:
    """Makes `target` hold these files and no others."""
    target.mkdir(exist_ok=True)
    for stale in _present(target) - files.keys():
        (target / stale).unlink()
    for name, text in files.items():
        (target / name).write_text(text, encoding="utf-8")


def drift(files: dict[str, str], target: Path) -> str:
    """A unified diff from what `target` holds to what it should hold; empty when they agree."""
    diffs = []
    for name in sorted(files.keys() | _present(target)):
        path = target / name
        old = path.read_text(encoding="utf-8") if path.is_file() else ""
        new = files.get(name, "")
        if old != new or (name in files) != path.is_file():
            lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{name}", f"b/{name}")
            diffs.append("".join(lines) or f"--- a/{name}\n+++ b/{name}\n")
    return "".join(diffs)


def _present(target: Path) -> set[str]:
    return {path.name for path in target.iterdir() if path.is_file()} if target.is_dir() else set()
