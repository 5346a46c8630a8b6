"""The files of generated/: their contents, and how they differ from the folder."""

import difflib
from pathlib import Path

from specvino.codegen.conditions import tables as condition_tables
from specvino.codegen.emit import classes, tables
from specvino.codegen.emit.documents import to_json, to_routes
from specvino.codegen.spec import Spec

INIT = '"""Written by specvino.codegen from openapi/. Do not edit."""\n\nVERSION = "{version}"\n'


def render(spec: Spec) -> dict[str, str]:
    """Returns the files of generated/ by name; those of other systems are in the folder dialects/."""
    document = spec.document
    return {
        "__init__.py": INIT.format(version=document["info"]["version"]),
        "py.typed": "",
        "openapi.json": to_json(document),
        **{f"dialects/{name}.json": to_json(projected) for name, projected in spec.projected.items()},
        "vocabulary.json": to_json(spec.vocabulary),
        "differences.json": to_json(
            {system: dialect["differences"] for system, dialect in spec.dialects.items() if "differences" in dialect}
        ),
        "conditions.json": to_json(condition_tables(document, spec.conditions)),
        "files.json": to_json(spec.files),
        "routes.json": to_json(to_routes(document)),
        "models.py": classes.models(document),
        "wire.py": classes.wire(document),
        "handlers.py": tables.handlers(document, spec.dialects.values()),
        "errors.py": tables.errors(spec.errors),
        "support.py": tables.support(document),
        "systems.py": tables.systems(spec.systems),
        "streams.py": tables.streams(document),
    }


def write(files: dict[str, str], target: Path) -> None:
    """Writes the files to `target` and deletes all others there."""
    for stale in _present(target) - files.keys():
        (target / stale).unlink()
    for name, text in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, encoding="utf-8")


def drift(files: dict[str, str], target: Path) -> str:
    """Returns a unified diff from the content of `target` to the files; it is empty when they agree."""
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
    return {
        path.relative_to(target).as_posix()
        for path in target.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
