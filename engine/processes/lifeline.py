"""A pipe that ends a child when its parent ends for any reason. The parent holds the write end and never writes. When
the parent ends, the kernel sends the child a signal that the write end was closed, which is fatal by default, so no
code of the child has to run.

As a program, `python -m …lifeline FD MODULE ARGUMENTS` runs any module with such a pipe, or the program at a path in
place of MODULE. Otherwise a program would continue after the server is killed, such as a download by pip or a
conversion by OpenVINO.
"""

import fcntl
import os
import runpy
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def die_with_parent(fd: int) -> None:
    """Makes this process end when the parent, which holds the other end of the pipe `fd`, ends, or if it has already
    ended.
    """
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    before = select.poll()  # there is no signal if the parent has ended already
    before.register(fd, 0)
    if before.poll(0):
        os._exit(1)


@contextmanager
def tied(module: str, *arguments: str) -> Iterator[tuple[list[str], tuple[int, ...]]]:
    """Yields a command that runs a module, or the program at a path, at most until this process ends, and the
    descriptors that it needs (`pass_fds`).
    """
    reading, writing = os.pipe()
    try:
        command = [sys.executable, "-P", "-m", "specvino.engine.processes.lifeline", str(reading), module, *arguments]
        yield command, (reading,)
    finally:
        os.close(reading)
        os.close(writing)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    del sys.argv[:2]
    if os.sep in sys.argv[0]:
        os.execv(sys.argv[0], sys.argv)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
