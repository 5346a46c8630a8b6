"""Options of a system in a file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.server import run
from specvino.server.assembly import ServedApp

Served = dict[str, Any]


@pytest.fixture
def how() -> Iterator[Served]:
    """How `serve` would listen, and what would answer."""
    kept: Served = {}

    def keep(served: ServedApp, host: str, port: int, **others: object) -> None:
        names = [name for names in served.engines for name in names]
        kept.update(others, host=host, port=port, names=names, settings=served.settings)

    with patch.object(run, "run", keep), patch("specvino.cli.serve.gc"):
        yield kept


def serve(file: Path, text: str | dict[str, Any], *arguments: str, **environment: str) -> str:
    """Starts it with a file; gives its output."""
    file.write_text(text if isinstance(text, str) else json.dumps(text))
    environment |= {"COLUMNS": "300", "SPECVINO_ENGINE": "scripted", "SPECVINO_RESPONSE_STORE": "none"}
    return CliRunner(env=environment).invoke(main, ["serve", "--config", str(file), *arguments]).output


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.yaml"


VLLM = """
served-model-name: [a, b]
port: 9001
enable_log_requests: true
enable-prefix-caching: false
tensor-parallel-size: 2
trust-request-chat-template: true
override-generation-config: {temperature: 0.5}
max_connections: 7
"""


def test_a_file_has_the_names_of_the_system_that_the_command_line_names(file: Path, how: Served) -> None:
    output = serve(file, VLLM, "--dialect", "vllm")
    assert (how["port"], how["names"], how["max_connections"]) == (9001, ["a", "b"], 7)
    assert "--tensor-parallel-size has no effect here: " in output
    assert how["settings"].system.name == "vllm"


def test_a_file_may_name_the_system(file: Path, how: Served) -> None:
    serve(file, "dialect: sglang\nmax-queued-requests: 3\nport: 30001\nhost: ::1\n")
    assert (how["host"], how["port"], how["settings"].system.name) == ("::1", 30001, "sglang")
    assert "unknown option --max-queued-requests" in serve(file, "dialect: ovms\nmax-queued-requests: 3\n")
    assert "unknown option max-queued-requests" in serve(file, "max-queued-requests: 3\n")


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(file: Path, how: Served) -> None:
    mine = {"dialect": "vllm", "port": 1, "max_connections": 2, "served_model_name": "a", "named-models": None}
    serve(file, mine, "--port", "3", SPECVINO_MAX_CONNECTIONS="4", SPECVINO_PORT="5")
    assert (how["port"], how["max_connections"], how["names"]) == (3, 4, ["a"])
    serve(file, mine, "--dialect", "llama-cpp", "-a", "x,y")
    assert (how["settings"].system.name, how["names"], how["port"]) == ("llama-cpp", ["x", "y"], 1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("max-model-lem: 7", "unknown option --max-model-lem. Did you mean --max-model-len?"),
        ("config: x", "unknown option --config."),
        ("uds: x", "--uds isn't supported here: The server listens on a TCP port."),
        ("no-web: maybe", "--no-web takes no value, but 'maybe' was given"),
        ("- port", "isn't a mapping of options to values"),
    ],
)
def test_a_file_that_cannot_be_used(file: Path, how: Served, text: str, why: str) -> None:
    assert why in serve(file, text, "--dialect", "vllm")
    assert how == {}
