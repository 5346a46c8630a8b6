"""Models with random weights of all architectures: `tox run -e architectures [-- NAME…] [--write]`.

Each is exported by optimum-intel, served by `specvino serve` and asked what checks.py has. `--write` writes the results
into docs/architectures.md, after a run of all. Fails if a result differs from `fails` in architectures.yaml.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping

import httpx
from architectures.architecture import Architecture, NotExported, read
from architectures.checks import CHECKS, OF_IMAGES, Failed, Model
from architectures.page import PAGE, page
from architectures.pipeline import Crashed
from support.serving import serving
from typer.testing import CliRunner

from specvino.cli import main as command


def results(architecture: Architecture) -> Iterator[tuple[str, str | None]]:
    """Yields each step and check with its error, None if it passes. Nothing follows a model that doesn't start."""
    try:
        folder = str(architecture.exported())
    except NotExported as error:
        yield "export", str(error)
        return
    yield "export", None
    explained = CliRunner().invoke(command, ["explain-template", folder]).output
    try:
        with (
            serving(folder, "--served-model-name", "m") as server,
            httpx.Client(base_url=server.url, timeout=None) as http,
        ):
            yield "start", None
            model = Model(http, folder, explained, architecture)
            for name, check in CHECKS.items():
                if name not in OF_IMAGES or architecture.processor:
                    yield name, _error(check, model)
    except AssertionError as error:  # the server ended
        yield "start", str(error).strip().splitlines()[-1]


def _error(check: Callable[[Model], None], model: Model) -> str | None:
    try:
        check(model)
    except (Crashed, Failed, httpx.HTTPError) as error:
        return f"{error}" or type(error).__name__
    return None


def unexpected(architecture: Architecture, found: Mapping[str, str | None]) -> list[str]:
    """Returns sentences about results that aren't the known ones."""
    sentences = []
    for check, error in found.items():
        known = architecture.fails.get(check)
        if error is not None and (known is None or known.error not in error):
            sentences.append(f"{architecture.name}, {check}: {error}")
        if error is None and known is not None:
            sentences.append(f"{architecture.name}, {check} no longer fails")
    missing = architecture.fails.keys() - found.keys()
    return sentences + [f"{architecture.name}, {check} wasn't reached" for check in sorted(missing)]


def main() -> None:
    architectures = read()
    parser = argparse.ArgumentParser(prog="architectures")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(architectures)}")
    parser.add_argument("--write", action="store_true", help="write the results into docs/architectures.md")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in architectures]:
        parser.error(f"unknown architecture {unknown[0]!r}; available: {', '.join(architectures)}")
    if arguments.write and arguments.names:
        parser.error("--write needs the results of all architectures")
    problems: list[str] = []
    for name in arguments.names or architectures:
        found: dict[str, str | None] = {}
        for check, error in results(architectures[name]):
            print(f"{name}, {check}: {error or 'passes'}", flush=True)
            found[check] = error
        problems += unexpected(architectures[name], found)
    if problems:
        sys.exit("\n".join(["", *problems]))
    if arguments.write:
        PAGE.write_text(page(architectures), "utf-8")


if __name__ == "__main__":
    main()
