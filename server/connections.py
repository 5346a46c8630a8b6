"""All connections of a server: how many there may be, and how long one may take over what it sends."""

import asyncio
import logging
import resource
from typing import Protocol

logger = logging.getLogger("specvino.server")

MOST = 2048

# Open files of everything else: the model, the database, pipes to child processes, images that are fetched.
_OTHER_FILES = 256


class Connection(Protocol):
    """What the server asks of a connection."""

    def tick(self) -> None:
        """A second is over."""
        ...

    def abort(self) -> None: ...


class Connections:
    """Holds at most `most` connections.

    One too many takes the place of the one that has waited longest without asking anything, so that whoever fills the
    server with silent connections only pushes out their own. Where all are being answered it is refused.

    Seconds are counted by the loop: after a second in which the server itself stood still, one is over, not more. So no
    client is late because the server is busy.
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._all: set[Connection] = set()
        # Those that ask nothing now, the longest waiting first.
        self._waiting: dict[Connection, None] = {}
        self._pushed_out = self._refused = 0

    def add(self, connection: Connection) -> bool:
        """Takes a new connection, which waits; returns False where it has to be refused."""
        full = len(self._all) - len(self._waiting) >= self.most
        self._refused += full
        while len(self._all) >= self.most and self._waiting:
            oldest = next(iter(self._waiting))
            self.discard(oldest)
            oldest.abort()
            self._pushed_out += 1
        self._all.add(connection)
        self._waiting[connection] = None
        return not full

    def discard(self, connection: Connection) -> None:
        """Forgets a connection that is closed."""
        self._all.discard(connection)
        self._waiting.pop(connection, None)

    def asks(self, connection: Connection) -> None:
        """Notes that a connection has asked something: nobody takes its place until `waits`."""
        self._waiting.pop(connection, None)

    def waits(self, connection: Connection) -> None:
        """Notes that a connection was answered, and asks nothing now."""
        if connection in self._all:
            self._waiting[connection] = None

    def tick(self) -> None:
        """Tells all connections that a second is over, and the log what was too much in it."""
        for connection in list(self._all):
            connection.tick()
        if self._pushed_out or self._refused:
            logger.warning(
                "more than %d connections (--max-connections): %d that asked nothing were closed, %d were refused",
                self.most,
                self._pushed_out,
                self._refused,
            )
            self._pushed_out = self._refused = 0

    async def watch(self) -> None:
        """Ticks until it is cancelled."""
        while True:
            await asyncio.sleep(1)
            self.tick()


def possible(most: int) -> int:
    """Raises this process's limit of open files, so that it suffices for `most` connections; returns how many it
    suffices for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft < wanted:
            most = max(soft - _OTHER_FILES, 1)
            logger.warning("this process may open %d files, so there can be %d connections at a time", soft, most)
    return most
