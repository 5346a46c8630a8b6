"""`specvino serve` as a process of its own, as a user runs it."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from specvino.engine.models import ModelSource

COMMAND = [sys.executable, "-m", "specvino.cli", "serve"]

# Loading a model on a busy machine; no test waits so long unless it is about to fail.
PATIENCE = 300


@dataclass
class Server:
    process: subprocess.Popen[str]
    lines: list[str]
    """What it printed so far, stderr and stdout together."""
    url: str = ""

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port."""
        host, port = self.url.removeprefix("http://").removesuffix("/v1").split(":")
        return host, int(port)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    @property
    def output(self) -> str:
        return "".join(self.lines)


@contextlib.contextmanager
def starting(*arguments: str, env: dict[str, str] | None = None, command: Sequence[str] = COMMAND) -> Iterator[Server]:
    """A server that was just started on a free port; it may not be ready. What it stores is gone with it."""
    with (
        tempfile.TemporaryDirectory() as data,
        _started([*command, "--port", "0", *arguments], {"SPECVINO_DATA": data} | (env or {})) as server,
    ):
        yield server


@contextlib.contextmanager
def _started(command: Sequence[str], env: dict[str, str]) -> Iterator[Server]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | env,
    )
    server = Server(process, [])
    output = process.stdout
    assert output is not None
    reader = threading.Thread(target=lambda: server.lines.extend(iter(output.readline, "")), daemon=True)
    reader.start()
    try:
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        reader.join()
        output.close()


@contextlib.contextmanager
def serving(*arguments: str, env: dict[str, str] | None = None, command: Sequence[str] = COMMAND) -> Iterator[Server]:
    """A server that is ready; `url` is its address with the base path /v1."""
    with starting(*arguments, env=env, command=command) as server:
        wait_until(lambda: _ready_line(server) or server.process.poll() is not None)
        ready = _ready_line(server)
        assert ready, f"the server ended before it was ready:\n{server.output}"
        server.url = ready
        yield server


def endless(source: ModelSource, folder: Path) -> Path:
    """A copy of a model in `folder` with a context that it doesn't come to the end of within PATIENCE."""
    shutil.copytree(source.path, folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 1_000_000}), "utf-8")
    return folder


def _ready_line(server: Server) -> str | None:
    match = re.search(r"^specvino: serving .* at (http://\S+)$", server.output, re.MULTILINE)
    return match.group(1) if match else None


def wait_until(condition: object, timeout: float = PATIENCE) -> None:
    """Waits until a callable gives something true. Raises TimeoutError."""
    assert callable(condition)
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout} s")
        time.sleep(0.02)


def healthy(url: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{url}/health").status_code == 200
    return False
