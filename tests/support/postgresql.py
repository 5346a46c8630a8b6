"""A PostgreSQL server of a test's own; its programs have to be installed."""

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """The URL of a database whose server keeps everything in `folder`."""
    programs = _programs()
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
    path = shutil.which("pg_ctl")
    known = [Path(path).resolve().parent] if path else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    assert known, "PostgreSQL is not installed: apt-get install postgresql"
    assert os.geteuid() or pwd.getpwnam("postgres")
    return known[-1]
