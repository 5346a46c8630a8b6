"""A server of our own in a child process, for the duration of a session."""

import contextlib
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator

_READY = re.compile(r"specvino: serving .* at (\S+)\n")


@contextlib.contextmanager
def serving(model: str | None) -> Iterator[str]:
    """Serves a model on a free port of this machine, and yields the base URL. Lines of its start are passed on to
    stderr. Raises SystemExit with its exit code if it can't start.

    It stores nothing, and has a process group of its own: Ctrl-C stops an answer, not the server.
    """
    options = ["--host", "127.0.0.1", "--port", "0", "--response-store", "none", "--no-web"]
    command = [sys.executable, "-m", "specvino.cli", "serve", *options, *(["--", model] if model else [])]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert process.stderr is not None
        url = None
        for line in process.stderr:
            if match := _READY.fullmatch(line):
                url = match[1]
                break
            sys.stderr.write(line)
        if url is None:
            raise SystemExit(process.wait())
        # Its log belongs to no one in a chat, but a full pipe would stop it.
        reading = threading.Thread(target=deque, args=(process.stderr, 0))
        reading.start()
        try:
            yield url
        finally:
            process.terminate()
            reading.join()
    finally:
        process.terminate()
        process.wait()
        if process.stderr:
            process.stderr.close()
