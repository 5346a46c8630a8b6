"""A server of our own in a child process, for the duration of a session."""

import contextlib
import os
import re
import subprocess
import threading
from collections import deque
from collections.abc import Iterator

import typer

from specvino.engine.processes.lifeline import tied

# Settings of a server for others: this one is asked without a key, by HTTP.
_OF_OTHERS = ("SPECVINO_API_KEY_FILE", "SPECVINO_SSL_CERTFILE", "SPECVINO_SSL_KEYFILE", "SPECVINO_CONFIG")

_READY = re.compile(r"specvino: serving .* at (\S+)\n")


@contextlib.contextmanager
def serving(model: str | None) -> Iterator[str]:
    """Serves a model on a free port of this machine, and yields the base URL. Lines of its start are passed on to
    stderr. Raises SystemExit with its exit code if it can't start.

    It stores nothing, and has a process group of its own: Ctrl-C stops an answer, not the server. It ends with this
    process, however that ends.
    """
    options = ["--host", "127.0.0.1", "--port", "0", "--response-store", "none", "--no-web", "--log-level", "warning"]
    with (
        tied("specvino.cli", "serve", *options, *(["--", model] if model else [])) as (command, descriptors),
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name not in _OF_OTHERS},
            start_new_session=True,
            pass_fds=descriptors,
        ) as process,
    ):
        assert process.stderr is not None
        reading = threading.Thread(target=deque, args=(process.stderr, 0))
        try:
            url = next(filter(None, map(_url, process.stderr)), None)
            if url is None:
                raise SystemExit(process.wait())
            # The log belongs to no one in a chat, but a full pipe would stop the server.
            reading.start()
            yield url
        finally:
            process.terminate()
            if reading.ident:
                reading.join()


def _url(line: str) -> str | None:
    """Returns the base URL in the line of a server that is ready, and passes on each other line."""
    if match := _READY.fullmatch(line):
        return match[1]
    typer.echo(line, nl=False, err=True)
    return None
