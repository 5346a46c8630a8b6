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
            running.should_exit = True
            await task
