"""A server for one chat."""

import subprocess
import sys
from contextlib import suppress

import httpx
import psutil
import pytest
from support.processes import leaving_no_process
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
