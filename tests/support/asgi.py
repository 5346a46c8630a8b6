"""Any ASGI application over real HTTP, beside a test in the same loop."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn


@asynccontextmanager
async def answering(application: Any) -> AsyncIterator[str]:
    """The base URL, with the path /v1, while it runs."""
    # With its protocol named, asyncio sends small packets at once.
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # who connects before the server runs waits for it
        config = uvicorn.Config(application, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        task = asyncio.create_task(running.serve([listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        finally:
            # asyncio (Python 3.11) leaves a connection open that it has accepted for a server that is closed meanwhile.
            for server in running.servers:
                for accepting in server.sockets:
                    asyncio.get_running_loop().remove_reader(accepting)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            running.should_exit = True
            await task
            # uvicorn leaves those open that haven't ended in time, or that came while it ended the others.
            while running.server_state.connections:
                for connection in running.server_state.connections:
                    connection.transport.abort()
                await asyncio.sleep(0)
