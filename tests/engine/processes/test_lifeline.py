import os
import subprocess
import sys

import psutil
import pytest
from support.processes import gone

from specvino.engine.processes.lifeline import tied


def test_it_runs_a_module_with_its_arguments() -> None:
    with tied("base64", "-d") as (command, fds):
        done = subprocess.run(command, input=b"aGVsbG8=", stdout=subprocess.PIPE, check=True, pass_fds=fds)
    assert done.stdout == b"hello"


@pytest.mark.parametrize(("module", "code"), [("no_such_module", 1), ("base64", 2)])
def test_it_ends_as_the_module_does(module: str, code: int) -> None:
    with tied(module, "--no-such-option") as (command, fds):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, pass_fds=fds)
    assert done.returncode == code
    assert f"No module named {module}" in done.stdout.decode() or code == 2


PARENT = """
import subprocess, time
from specvino.engine.processes.lifeline import tied
with tied("http.server", "--bind=127.0.0.1", "0") as (command, fds):
    child = subprocess.Popen(command, pass_fds=fds, stdout=subprocess.PIPE, env={"PYTHONUNBUFFERED": "1"})
    child.stdout.readline()
    print(child.pid, flush=True)
    time.sleep(3600)
"""


def test_it_dies_with_a_killed_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    assert gone(child)


def test_it_does_not_begin_when_its_parent_has_ended() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    command = [sys.executable, "-m", "specvino.engine.processes.lifeline", str(reading), "base64", "-t"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, pass_fds=(reading,))
    os.close(reading)
    assert (done.returncode, done.stdout) == (1, b"")
