"""`specvino serve` in a thread of this process: a line of the command, its app and HTTP, without a process of its own.

A process spends seconds on imports that this one made already. What only a process shows (signals, what it prints once
it serves, its end, its children) is for `serving.py`."""

import contextlib
import os
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import httpx
from typer.testing import CliRunner, Result

from specvino.cli import main
from specvino.server import run
from specvino.server.assembly import ServedApp, served_app
from specvino.server.connections import Connections
from support import routes_validated_once  # noqa: F401 - for its effect on Connexion
from support.serving import PATIENCE


@dataclass(frozen=True)
class ServerHere:
    url: str
    """Its address with the base path."""
    output: str
    """What the command printed before it served."""

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port."""
        url = httpx.URL(self.url)
        assert url.port
        return url.host, url.port


@contextlib.contextmanager
def serving_here(*arguments: str, env: dict[str, str] | None = None) -> Iterator[ServerHere]:
    """A server that is ready, on a free port. What it stores is gone with it.

    Raises what its start or its end raises."""
    with tempfile.TemporaryDirectory() as data:
        ended, built = _command("--port", "0", *arguments, env={"SPECVINO_DATA": data} | (env or {}))
        assert built, ended.output
        (served,) = built
        system = served.settings.system
        with _running(served) as port:
            base = system.base_paths[0] if system else "/v1"
            yield ServerHere(f"http://127.0.0.1:{port}{base}", ended.output)


def unserved(*arguments: str) -> Result:
    """The end of a command that doesn't come to serve."""
    ended, built = _command(*arguments)
    assert not built, ended.output
    return ended


def _command(*arguments: str, env: dict[str, str] | None = None) -> tuple[Result, list[ServedApp]]:
    """The command's end, and the app that it was about to serve."""
    built: list[ServedApp] = []

    def keep(served: ServedApp, *_: Any, **settings: Any) -> None:
        built.append(served)

    # This process has more to do than to serve: nothing of it is frozen for a server, here or below.
    with patch.object(run, "run", keep), patch.dict(os.environ, env or {}), patch("specvino.cli.serve.gc"):
        return CliRunner().invoke(main, ["serve", *arguments]), built


@contextlib.contextmanager
def _running(served: ServedApp) -> Iterator[int]:
    """Runs the app as `run` does, but for logging and signals, which are those of this whole process."""
    began = threading.Event()
    failures: list[BaseException] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        try:
            async with served.telemetry.running(None):
                try:
                    with patch.object(served_app, "gc"):
                        await served.start()
                    began.set()
                    yield
                finally:
                    await served.close()
        except BaseException as failure:
            failures.append(failure)
            raise
        finally:
            began.set()

    server = run._Server(served, lifespan, Connections(), None)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            assert began.wait(PATIENCE)
            if not failures:
                yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
    assert not thread.is_alive()
    if failures:
        raise failures[0]
