"""`python -m specvino.codegen`: writes generated/, or shows how it differs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from specvino.codegen import build
from specvino.codegen.lint import lint
from specvino.codegen.source import SpecError
from specvino.codegen.spec import read


def main(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; show how generated/ differs.")] = False,
    root: Annotated[Path, typer.Option(help="The project's folder.")] = Path(),
) -> None:
    """Writes generated/ from openapi/."""
    try:
        spec = read(root / "openapi")
    except SpecError as error:
        sys.exit(f"specvino.codegen: {error}")
    if problems := lint(spec):
        sys.exit("\n".join(str(problem) for problem in problems))
    files = build.render(spec)
    target = root / "generated"
    if not check:
        build.write(files, target)
    elif difference := build.drift(files, target):
        sys.exit(difference + "generated/ is out of date: run `python -m specvino.codegen`.")


if __name__ == "__main__":
    typer.run(main)
