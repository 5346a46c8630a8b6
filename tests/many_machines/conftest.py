"""Replicas on a Ray cluster of this machine, and a PostgreSQL server for what they store."""

import contextlib
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.serving import Server, serving

DEPLOY = [sys.executable, "-m", "specvino.cli", "deploy", "--cpus-per-replica", "0"]


@contextlib.contextmanager
def deployed(*arguments: str, env: dict[str, str] | None = None) -> Iterator[Server]:
    """Replicas that are ready, behind a proxy; `url` is its address with the base path /v1."""
    with serving(*arguments, env=env, command=DEPLOY) as server:
        yield server


@pytest.fixture(scope="session")
def two() -> Iterator[Server]:
    """Two replicas with the scripted engine, without a store."""
    options = ("--engine", "scripted", "--served-model-name", "m", "--response-store", "none")
    with deployed(*options, "--replicas", "2", "--max-num-seqs", "16") as server:
        yield server


@pytest.fixture(scope="session")
def postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a database on a server of its own; PostgreSQL's programs have to be installed."""
    programs = _programs()
    folder = tmp_path_factory.mktemp("postgresql")
    user = None
    if os.geteuid() == 0:  # it refuses to run as root
        user = "postgres"
        shutil.chown(folder, user)
        for above in [folder, *folder.parents[:3]]:
            above.chmod(0o755)

    def run(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    data = folder / "data"
    run(str(programs / "initdb"), "-D", str(data), "-U", "specvino", "--auth", "trust", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    run(str(programs / "pg_ctl"), "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql+asyncpg://specvino@/postgres?host={folder}"
    finally:
        run(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")


def _programs() -> Path:
    found = shutil.which("pg_ctl")
    known = [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    assert known, "PostgreSQL is not installed: apt-get install postgresql"
    assert os.geteuid() or pwd.getpwnam("postgres")
    return known[-1]
