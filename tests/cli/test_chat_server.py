"""A server for one chat."""

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest
from support.processes import gone, leaving_no_process
from support.serving import PATIENCE

from specvino.cli.chat_server import serving

KILLED = """
import os, signal
from specvino.cli.chat_server import serving
import psutil

with serving(None):
    print(*(child.pid for child in psutil.Process().children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


STDERR_CLOSED = """
import os
from specvino.cli.chat_server import serving

reading, writing = os.pipe()
os.close(reading)
os.dup2(writing, 2)
with serving(None):
    print("is served")
"""


def test_it_ends_with_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_ENGINE", "scripted")
    with leaving_no_process(), serving(None) as url:
        assert httpx.get(f"{url}/models").status_code == 200


def test_it_ends_with_a_chat_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_ENGINE", "scripted")
    ended = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, check=False)
    (pid,) = map(int, ended.stdout.split())
    with suppress(psutil.NoSuchProcess):
        psutil.Process(pid).wait(PATIENCE)


def test_what_cannot_be_served(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, serving("no-such-model"):
        pass
    assert ended.value.code == 2
    assert "no-such-model: no such model" in capfd.readouterr().err


def test_it_ends_with_a_chat_that_is_terminated_while_it_starts(tmp_path: Path) -> None:
    """Its model is pulled by pip, which waits for an answer of the index."""
    with socket.create_server(("127.0.0.1", 0)) as index:
        address = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
        pip = {"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": address, "PIP_EXTRA_INDEX_URL": "", "NO_PROXY": "*"}
        index.settimeout(PATIENCE)
        environ = os.environ | pip | {"SPECVINO_CACHE": str(tmp_path)}
        command = [sys.executable, "-m", "specvino.cli", "chat", "smollm2", "-"]
        chat = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ)
        with chat:
            assert chat.stdin is not None
            chat.stdin.write(b"Hello")
            chat.stdin.close()
            with index.accept()[0]:
                children = psutil.Process(chat.pid).children(recursive=True)
                chat.terminate()
                try:
                    assert chat.wait(PATIENCE) == 143
                finally:
                    chat.kill()
                assert children
                assert gone(*children)


def test_it_ends_with_a_chat_whose_stderr_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVINO_ENGINE", "scripted")
    monkeypatch.setenv("SPECVINO_UNKNOWN", "which is warned of")
    # Python ends with 120 if it can't write what is left in a buffer.
    command = [sys.executable, "-u", "-c", STDERR_CLOSED]
    ended = subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE, check=False)
    assert (ended.returncode, ended.stdout) == (1, b"")
