"""Runs the application until a signal, on an existing Ray cluster or on a local one."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import ray
from ray import serve
from ray.exceptions import RayError
from ray.serve.config import HTTPOptions
from ray.serve.schema import LoggingConfig

from specvino.server.access import ServeError, WrongOptions, read_keys, require_unreachable
from specvino.server.assembly.models import names
from specvino.server.ray import proxy
from specvino.server.ray.application import NAME, Deployment, app


def deploy(options: Deployment, host: str, port: int, cluster: str | None, *, insecure: bool) -> None:
    """Returns after a signal, when all replicas have ended. Port 0 picks a free one; `cluster` is an address, or None
    for a local cluster.

    Raises ServeError, OptionError and KeyFileError.
    """
    served = names(options)
    is_open = not insecure and not read_keys(options.api_key_file)
    if cluster is None:
        port = _port(host, port, is_open=is_open)
    with _cluster(cluster):
        proxies = serve.status().proxies  # running proxies keep their host and port
        if proxies and is_open:
            raise WrongOptions(
                "other machines may reach the running proxies, so an API key is required: set --api-key-file FILE or "
                "SPECVINO_API_KEY (or --insecure to serve without keys)"
            )
        if cluster is not None and not proxies:
            port = _port(host, port, is_open=is_open)
        try:
            serve.start(
                proxy_location="EveryNode",  # a proxy needs half a millisecond per token of a stream
                http_options=HTTPOptions(host=host, port=port),
                logging_config=LoggingConfig(log_level="WARNING"),
            )
            serve.run(app(options), name=NAME, route_prefix="/")
        except (RayError, RuntimeError) as error:
            raise ServeError(f"the replicas could not be started: {error}") from error
        _print(f"{options.autoscale or options.replicas} replicas of {', '.join(served)} on Ray Serve")
        address = f"at http://{f'[{host}]' if ':' in host else host}:{port}/v1"
        _print(f"serving {', '.join(served)} {'behind the running proxies' if proxies else address}")
        _until_a_signal()
        _print("shutting down; waiting for running requests")
        serve.delete(NAME)


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    # Proxies are processes of the cluster. On an existing cluster, this has to be set before it is started.
    os.environ.setdefault(proxy.CALLBACK, f"{proxy.middlewares.__module__}.{proxy.middlewares.__name__}")
    try:
        ray.init(address or "local", include_dashboard=False, logging_level="warning", log_to_driver=True)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ServeError(f"the Ray cluster can't be reached: {error}") from error
    try:
        yield
    finally:
        if address is None:
            serve.shutdown()
        ray.shutdown()


def _port(host: str, port: int, *, is_open: bool) -> int:
    """Returns the port, or a free one for 0. Raises ServeError if it is in use, or other machines can reach it although
    the server is open."""
    try:
        with socket.create_server((host, port)) as listener:
            address, free = listener.getsockname()[:2]
    except OSError as error:
        raise ServeError(f"can't listen on {host} port {port}: {error.strerror}") from error
    if is_open:
        require_unreachable(host, address)
    return int(free)


def _print(line: str) -> None:
    print(f"specvino: {line}", file=sys.stderr, flush=True)


def _until_a_signal() -> None:
    received = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: received.set())
    received.wait()
