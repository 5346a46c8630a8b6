"""A pipe that ends a child when its parent ends, however that happens.

The parent holds the writing end and never writes. When it is gone the kernel signals the child that the other end was
closed, which is fatal by default: no code of the child has to run for it.
"""

import fcntl
import os
import select


def die_with_parent(fd: int) -> None:
    """Ends this process when the parent, who holds the other end of the pipe `fd`, ends or has ended."""
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    before = select.poll()  # of an end that has come already there is no signal
    before.register(fd, 0)
    if before.poll(0):
        os._exit(1)
