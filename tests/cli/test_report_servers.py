"""Which processes are servers, and which keys they know."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from specvino.cli.report_servers import Server, servers


class Fake:
    def __init__(self, *words: str) -> None:
        self.words = words

    def cmdline(self) -> list[str]:
        if not self.words:
            raise psutil.AccessDenied(1)
        return list(self.words)

    def cwd(self) -> str:
        return "/srv"

    def environ(self) -> dict[str, str]:
        return {}


def test_processes_that_serve() -> None:
    serving = Fake("/usr/bin/python", "/usr/bin/specvino", "serve", "m", "--port", "1")
    module = Fake("python", "-m", "specvino.cli", "serve")
    others = (Fake(), Fake("serve"), Fake("nginx", "serve"), Fake("specvino", "pull", "m"))
    found = list(servers([serving, *others, module]))
    assert [server.words for server in found] == [("serve", "m", "--port", "1"), ("serve",)]


def test_a_process_is_asked_for_its_folder_and_environment(tmp_path: Path) -> None:
    """A relative path is of the server's folder, and not of the one where the report is made."""
    (tmp_path / "keys").write_text("sk-of-the-file\n")
    program = "import sys; print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", program, "specvino", "serve", "--api-key-file", "keys"]
    environment = {**os.environ, "SPECVINO_METRICS_KEY": "sk-of-metrics"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        (server,) = servers([psutil.Process(process.pid)])
        process.stdin.close()
    assert server.known_keys() == {"sk-of-the-file", "sk-of-metrics"}


@pytest.mark.parametrize(
    ("words", "environment"),
    [
        ("--api-key-file=keys", {}),
        ("--api_key_file keys", {}),
        ("--api-key sk-1 sk-2 --port 1", {}),
        ("--api-key=sk-1 --api-k sk-2", {}),
        ("--config settings.yaml", {}),
        ("--config=settings.toml", {}),
        ("", {"SPECVINO_CONFIG": "settings.yaml"}),
        ("", {"SPECVINO_API_KEY_FILE": "keys"}),
        ("", {"SPECVINO_METRICS_KEY_FILE": "keys"}),
        ("", {"SPECVINO_API_KEY": "sk-1", "SPECVINO_METRICS_KEY": " sk-2 "}),
    ],
)
def test_keys(tmp_path: Path, words: str, environment: dict[str, str]) -> None:
    (tmp_path / "keys").write_text("# team\nsk-1 requests-per-minute=5\n\nsk-2\n")
    (tmp_path / "settings.yaml").write_text("api-key-file: keys\nport: 1\n")
    (tmp_path / "settings.toml").write_text('api_key = ["sk-1", "sk-2"]\n')
    server = Server(("serve", "m", *words.split()), tmp_path, environment)
    assert (server.known_keys(), server.unread) == ({"sk-1", "sk-2"}, [])


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("[")
    server = Server(("serve", "--api-key-file", "none", "--config", "broken.yaml"), tmp_path, {})
    assert server.known_keys() == set()
    config, file = sorted(server.unread, key=len, reverse=True)
    assert config.startswith(f"{tmp_path}/broken.yaml: isn't valid YAML")
    assert file == "none: can't be read: No such file or directory"
