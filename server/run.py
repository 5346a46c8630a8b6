"""Runs the app on uvicorn, until its last process has ended."""

import asyncio
import signal
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, cast

import uvicorn

from specvino.engine.errors import ModelLoadError
from specvino.engine.progress import Report, say_nothing
from specvino.server.access import ServeError, WrongOptions, require_unreachable
from specvino.server.app import Lifespan
from specvino.server.assembly import ServedApp
from specvino.server.assembly.storage import StorageError
from specvino.server.connections import BoundedProtocol, Connections, possible
from specvino.server.socket_protocol import Incomplete, SocketProtocol
from specvino.server.telemetry import logs
from specvino.server.validation.bodies import MOST_UNFINISHED

# How long (seconds) an idle connection is kept open: longer than clients and proxies do (5 to 60 s), since a request
# that is sent while the server closes the connection is lost.
KEEP_ALIVE = 75

# How long (seconds) clients have to read the last responses.
CLOSING = 5

# How often (seconds) the drain checks whether requests are still running.
_DRAIN_INTERVAL = 0.1


class _Server(uvicorn.Server):
    """A uvicorn server that drains on a signal: it refuses new requests and lets running ones finish, or ends them with
    an error after the timeout.

    A second signal ends them at once, a third one the process.
    """

    def __init__(
        self,
        served: ServedApp,
        lifespan: Lifespan,
        connections: Connections,
        log_config: dict[str, Any] | None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        incomplete = Incomplete(MOST_UNFINISHED * served.settings.max_body)
        config = uvicorn.Config(
            served.asgi(lifespan),
            loop="uvloop",
            http=cast("type[asyncio.Protocol]", partial(BoundedProtocol, connections)),
            ws=cast("type[asyncio.Protocol]", partial(SocketProtocol, connections, incomplete)),
            ws_max_size=2 * served.settings.max_body,  # up to this, the app answers with an error
            ws_per_message_deflate=False,
            ws_ping_timeout=None,  # a client that is busy may answer late
            timeout_keep_alive=KEEP_ALIVE,
            log_config=log_config,
            access_log=False,  # ours has more fields
            timeout_graceful_shutdown=CLOSING,
            server_header=False,
            ssl_context_factory=(lambda _config, _default: tls) if tls else None,
        )
        super().__init__(config)
        self._served = served
        self._hurried = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            super().handle_exit(sig, frame)
        elif not self._hurried:
            self._hurried = True
        else:
            self.force_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._served.drain.begin()
        # Running requests share this list: their connections close, and clients' next requests go to another server.
        self.server_state.default_headers.append((b"connection", b"close"))
        if count := self._served.under_way:
            timeout = self._served.settings.shutdown_timeout
            message = f"specvino: shutting down; waiting up to {timeout} s for {count} running requests"
            print(f"{message} (send the signal again to stop now)", file=sys.stderr, flush=True)
            await self._wait_until(time.monotonic() + timeout)
        await super().shutdown(sockets)

    async def _wait_until(self, deadline: float) -> None:
        while self._served.under_way and not self._hurried and time.monotonic() < deadline:  # noqa: ASYNC110 - a signal can't set an event
            await asyncio.sleep(_DRAIN_INTERVAL)
        if self._served.under_way:
            await self._served.stop_answers()


def run(
    served: ServedApp,
    host: str,
    port: int,
    *,
    max_connections: int,
    insecure: bool = False,
    certificate: Path | None = None,
    key: Path | None = None,
    progress: AbstractContextManager[Report] | None = None,
) -> None:
    """Serves until a signal. Raises ServeError, ModelLoadError and StorageError.

    The port is open while the models load, which `progress` shows, and /health returns 503 until then. Without keys
    the server listens only on loopback addresses, unless it is `insecure`. With a `certificate` (PEM) it serves HTTPS;
    its `key` may be in the same file.
    """
    settings = served.settings
    tls = _tls(certificate, key) if certificate or key else None
    listener = _listen(host, port, everywhere=insecure or bool(settings.keys))
    connections = Connections(possible(max_connections))
    metrics_port = settings.telemetry.metrics_port
    guarded = insecure or bool(settings.keys or settings.telemetry.metrics_keys)
    metrics_listener = None if metrics_port is None else _listen(host, metrics_port, everywhere=guarded)
    failure: list[ModelLoadError | StorageError] = []

    async def load(server: uvicorn.Server) -> None:
        began = time.monotonic()
        try:
            with progress or nullcontext(say_nothing) as report:
                await served.start(report)
        except (ModelLoadError, StorageError) as error:
            failure.append(error)
            server.should_exit = True
        else:
            if served.store.keeps:
                print(f"specvino: responses are stored in {served.store.location}", file=sys.stderr, flush=True)
            if metrics_listener:
                print(f"specvino: metrics are at {_url(metrics_listener)}/metrics", file=sys.stderr, flush=True)
            for (name, *_), engine in served.engines.items():
                print(f"specvino: {name}: {'; '.join(engine.model.described)}", file=sys.stderr, flush=True)
            if progress:
                print(f"specvino: ready after {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
            if settings.web:
                url = _url(listener, tls)
                print(f"specvino: chat at {url}/, API reference at {url}/docs", file=sys.stderr, flush=True)
            names = ", ".join(name for names in served.engines for name in names)
            print(
                f"specvino: serving {names} at {_url(listener, tls)}{settings.base_path}", file=sys.stderr, flush=True
            )

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with served.telemetry.running(metrics_listener):
            loading = asyncio.create_task(load(server))
            watching = asyncio.create_task(connections.watch())
            try:
                yield
            finally:
                loading.cancel()
                watching.cancel()
                await asyncio.gather(loading, watching, return_exceptions=True)
                await served.close()

    server = _Server(
        served, lifespan, connections, logs.config(settings.telemetry.log_format, settings.telemetry.log_level), tls
    )
    # uvicorn 0.54 raises the signal again after the shutdown; this ends the process cleanly (decision 040).
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
        if not everywhere:
            require_unreachable(host, listener.getsockname()[0])
        # The backlog has to hold a burst of clients while the event loop is busy.
        listener.listen(2048)
    except OSError as error:
        raise ServeError(f"can't listen on {host} port {port}: {error.strerror}") from error
    return listener


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext:
    if certificate is None:
        raise WrongOptions("--ssl-keyfile requires --ssl-certfile")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key, password="")  # without a password OpenSSL would ask for one
    except OSError as error:
        files = f"{certificate} and {key}" if key else certificate
        # OpenSSL has none for other formats.
        reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        why = f": {reason}" if reason else ""
        raise WrongOptions(f"can't load a PEM certificate and its private key from {files}{why}") from error
    return context


def _url(listener: socket.socket, tls: ssl.SSLContext | None = None) -> str:
    host, port = listener.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
