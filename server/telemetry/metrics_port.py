"""A port of its own for the metrics, in a thread: they can be read while the server itself is busy."""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

# More than any monitor has; a stranger's connections are no burden beyond it.
_CONNECTIONS = 32


@asynccontextmanager
async def serving(app: Any, listener: socket.socket) -> AsyncIterator[None]:
    """Serves an app on a socket for as long as it is entered."""
    config = uvicorn.Config(
        app,
        http="httptools",
        log_config=None,
        access_log=False,
        lifespan="off",
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.to_thread(thread.join)
