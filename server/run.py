"""Runs the app on uvicorn, from the first line printed to the last process gone."""

import asyncio
import logging
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import uvicorn

from specvino.engine.errors import ModelLoadError
from specvino.engine.protocol import Engine
from specvino.handlers import Handlers, bind
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaSettings
from specvino.handlers.models import ServedModel
from specvino.handlers.store import ResponseStore, StoreUnavailable
from specvino.server.app import create_app
from specvino.server.drain import Drain
from specvino.server.settings import Settings

# How long (seconds) clients have to read how it ended.
CLOSING = 5

# How often (seconds) it is looked whether the last request has ended.
_GLANCE = 0.1

logger = logging.getLogger("specvino.server")


class _Server(uvicorn.Server):
    """Drains when a signal comes: refuses new requests and lets those under way end, what is late with a proper error.

    A second signal makes all of them late, a third one ends the process.
    """

    def __init__(self, config: uvicorn.Config, engine: Engine, handlers: Handlers, drain: Drain, timeout: int) -> None:
        super().__init__(config)
        self._engine = engine
        self._handlers = handlers
        self._drain = drain
        self._timeout = timeout
        self._hurried = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            super().handle_exit(sig, frame)
        elif not self._hurried:
            self._hurried = True
        else:
            self.force_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._drain.begin()
        # The list that requests under way hold, too. A client's next request needs another server.
        self.server_state.default_headers.append((b"connection", b"close"))
        if count := self._under_way():
            message = f"specvino: stopping; waiting up to {self._timeout} s for {count} requests"
            print(f"{message} (a second signal stops now)", file=sys.stderr, flush=True)
            await self._wait()
        await super().shutdown(sockets)

    async def _wait(self) -> None:
        deadline = time.monotonic() + self._timeout
        # A signal's handler can't wake the loop.
        while self._under_way() and not self._hurried and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_GLANCE)
        if self._under_way():
            await asyncio.gather(self._handlers.close(), self._engine.close())

    def _under_way(self) -> int:
        return self._drain.under_way + self._handlers.in_background


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
) -> None:
    """Serves until a signal comes. Raises ServeError and ModelLoadError.

    The port is open while the model loads, and /health says so.
    """
    listener = _listen(host, port)
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
            if store.keeps:
                print(f"specvino: responses are stored in {store.place}", file=sys.stderr, flush=True)
            print(f"specvino: serving {', '.join(names)} at {_url(listener)}/v1", file=sys.stderr, flush=True)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        loading = asyncio.create_task(load(server))
        try:
            yield
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
            await handlers.close()
            await engine.close()
            await store.close()

    drain = Drain()
    app = create_app(handlers, settings, lifespan, drain)
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http="httptools",
        log_config=_LOGGING,
        timeout_graceful_shutdown=CLOSING,
        server_header=False,
    )
    server = _Server(config, engine, handlers, drain, settings.shutdown_timeout)
    # uvicorn 0.54 shuts down on a signal and raises it again, when all is closed: a clean end (decision 040).
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit(0))
    server.run(sockets=[listener])
    if failure:
        raise failure[0]


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
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
