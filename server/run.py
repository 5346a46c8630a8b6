"""Runs the app on uvicorn, from the first line printed to the last process gone."""

import asyncio
import gc
import ipaddress
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import uvicorn

from specvino.engine.errors import ModelLoadError
from specvino.engine.protocol import Engine
from specvino.handlers import bind
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaSettings
from specvino.handlers.models import ServedModel
from specvino.handlers.store import ResponseStore, StoreUnavailable
from specvino.server.app import create_app
from specvino.server.connections import Connections, possible
from specvino.server.protocol import BoundedProtocol
from specvino.server.settings import Settings

# Requests under way may take this long (seconds) to end after a signal; a second signal ends all at once.
GRACE = 10

# How long (seconds) a connection is kept without a request: longer than clients and proxies keep one (5 to 60 s), as a
# request that meets the server's end of it is lost.
KEEP_ALIVE = 75

# How long (seconds) clients have to read how it ended.
CLOSING = 5

logger = logging.getLogger("specvino.server")


class _Server(uvicorn.Server):
    """Says what it waits for when it stops, and lets what is late end with a proper error."""

    def __init__(self, config: uvicorn.Config, engine: Engine) -> None:
        super().__init__(config)
        self._engine = engine

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        late = None
        if count := len(self.server_state.tasks):
            message = f"specvino: stopping; waiting up to {GRACE} s for {count} requests (a second signal stops now)"
            print(message, file=sys.stderr, flush=True)
            late = asyncio.create_task(self._close_late())
        await super().shutdown(sockets)
        if late:
            late.cancel()

    async def _close_late(self) -> None:
        await asyncio.sleep(GRACE)
        await self._engine.close()


class ServeError(Exception):
    """The server can't start; `str()` says why in one line."""


def run(
    engine: Engine,
    names: tuple[str, ...],
    settings: Settings,
    host: str,
    port: int,
    store: ResponseStore,
    cipher: Cipher,
    limits: Limits,
    media: MediaSettings,
    *,
    insecure: bool = False,
) -> None:
    """Serves until a signal comes. Raises ServeError and ModelLoadError.

    The port is open while the model loads, and /health says so. Without keys it is open to this machine alone, unless
    the server may be `insecure`.
    """
    listener = _listen(host, port, everywhere=insecure or bool(settings.keys))
    connections = Connections(possible(settings.max_connections))
    failure: list[ModelLoadError | ServeError] = []
    handlers = bind(engine, ServedModel(names, int(time.time())), store, cipher, limits, media)

    async def load(server: uvicorn.Server) -> None:
        try:
            await store.open()
            await engine.start()
        except ModelLoadError as error:
            failure.append(error)
            server.should_exit = True
        except StoreUnavailable as error:
            failure.append(ServeError(f"the response store {store.place} can't be used: {error}"))
            server.should_exit = True
        except Exception as error:
            logger.exception("the engine could not be started")
            failure.append(ModelLoadError(f"the engine could not be started: {error!r}"))
            server.should_exit = True
        else:
            # What was loaded stays: else the collector would go through all of it, for 50 ms, again and again.
            gc.collect()
            gc.freeze()
            if store.keeps:
                print(f"specvino: responses are stored in {store.place}", file=sys.stderr, flush=True)
            print(f"specvino: serving {', '.join(names)} at {_url(listener)}/v1", file=sys.stderr, flush=True)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        loading = asyncio.create_task(load(server))
        watching = asyncio.create_task(connections.watch())
        try:
            yield
        finally:
            loading.cancel()
            watching.cancel()
            await asyncio.gather(loading, watching, return_exceptions=True)
            await handlers.close()
            await engine.close()
            await store.close()

    app = create_app(handlers, settings, lifespan)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=cast("type[asyncio.Protocol]", partial(BoundedProtocol, connections)),
        ws="none",
        timeout_keep_alive=KEEP_ALIVE,
        log_config=_LOGGING,
        timeout_graceful_shutdown=GRACE + CLOSING,
        server_header=False,
    )
    server = _Server(config, engine)
    # uvicorn 0.54 shuts down on a signal and raises it again, when all is closed: a clean end (decision 040).
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    server.run(sockets=[listener])
    if failure:
        raise failure[0]


def _listen(host: str, port: int, *, everywhere: bool) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        if not everywhere and not ipaddress.ip_address(listener.getsockname()[0]).is_loopback:
            raise ServeError(
                f"other machines can reach {host}, so an API key is needed: --api-key-file FILE or SPECVINO_API_KEY "
                "(--insecure serves everybody without one)"
            )
        # The queue must hold a burst of clients while the loop is busy.
        listener.listen(2048)
    except OSError as error:
        raise ServeError(f"can't listen on {host} port {port}: {error.strerror}") from error
    return listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


# The access log goes to stderr; of uvicorn's own lines only warnings. No line holds a prompt.
_LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain", "stream": "ext://sys.stderr"}},
    "loggers": {
        "uvicorn.access": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "specvino": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}
