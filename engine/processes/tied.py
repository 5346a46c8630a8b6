"""Runs any module as a program that ends when we do, however we end: `python -m …tied FD MODULE ARGUMENTS`.

A program that we start otherwise goes on when we are killed: pip would download, and OpenVINO convert, for nobody.
"""

import os
import runpy
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from specvino.engine.processes.lifeline import die_with_parent


@contextmanager
def tied(module: str, *arguments: str) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Yields the command that runs a module, and the descriptors that it must be given (`pass_fds`)."""
    reading, writing = os.pipe()
    try:
        command = [sys.executable, "-P", "-m", "specvino.engine.processes.tied", str(reading), module, *arguments]
        yield command, (reading,)
    finally:
        os.close(reading)
        os.close(writing)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    del sys.argv[:2]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
