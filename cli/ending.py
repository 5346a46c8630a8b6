"""The end of a command that can't be executed."""

import contextlib
import sys
from collections.abc import Iterator
from typing import NoReturn

from specvino.conformance.installation import command
from specvino.conformance.reports import inert


def end(message: str) -> NoReturn:
    """Ends the process with one line on stderr and exit code 2, which means that no verdict was reached."""
    print(f"specvino: {inert.line(' '.join(message.split()))}", file=sys.stderr)
    raise SystemExit(2)


@contextlib.contextmanager
def needs_model() -> Iterator[None]:
    """Ends the command with one line if a model can't be loaded: with 2 if what was asked for is at fault, else with 1,
    since another try may succeed."""
    from specvino.engine.errors import ModelLoadError, UnusableModel

    try:
        yield
    except UnusableModel as error:
        end(str(error))
    except ModelLoadError as error:
        sys.exit(f"specvino: {inert.block(str(error))}")


@contextlib.contextmanager
def needs(extra: str) -> Iterator[None]:
    """Ends the command with one line if a package of an extra isn't installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "specvino").startswith("specvino"):
            raise  # a bug of ours
        end(f"this command requires the package {error.name}: {command(extra)}")
