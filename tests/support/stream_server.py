"""A server of asyncio's streams that leaves no connection open when it ends."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def stream_server(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Yields the port on 127.0.0.1. A handler is cancelled at the end if it would wait for a client that has no more
    to say; its connection is closed with it.

    A connection left open becomes a warning of whatever later test collects it. Hence handlers are kept from the
    moment of the connection (a task that is cancelled before its first step closes nothing), and the listener is taken
    from the loop before the server is closed: asyncio (Python 3.11) leaves a connection open that it accepted for a
    server that is closed before the connection is made.
    """
    loop = asyncio.get_running_loop()
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            await handler(reader, writer)
            await writer.drain()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = loop.create_task(handle(reader, writer))
        task.add_done_callback(lambda _: writer.close())
        connections[task] = writer

    server = await asyncio.start_server(connected, "127.0.0.1", ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.remove_reader(server.sockets[0])
        await _all_accepted()
        for task in connections:
            task.cancel()
        results = await asyncio.gather(*connections, return_exceptions=True)
        for writer in connections.values():
            # asyncio (Python 3.11) fails when a connection is aborted that it closed after the last of its answer.
            socket = writer.get_extra_info("socket")  # None for a TLS connection that is lost
            if socket is not None and socket.fileno() != -1:
                writer.transport.abort()
        server.close()
        await asyncio.sleep(0)  # the sockets are closed by the loop's next turn
    for result in results:
        if isinstance(result, Exception):
            raise result


async def _all_accepted() -> None:
    tasks = asyncio.all_tasks()
    while accepting := [task for task in tasks if getattr(task.get_coro(), "__name__", "") == "_accept_connection2"]:
        await asyncio.wait(accepting)
        tasks = asyncio.all_tasks()
