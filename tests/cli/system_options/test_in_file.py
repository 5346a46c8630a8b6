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


def test_an_address_of_kubernetes_is_no_port(file: Path, how: Served) -> None:
    serve(file, VLLM, "--dialect", "vllm", SPECVINO_PORT="tcp://10.0.0.1:8000")
    assert how["port"] == 9001


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


@pytest.mark.parametrize(
    ("line", "environment", "in_file", "accepted"),
    [
        ([], {"SPECVINO_API_KEY": "env"}, {"api-key": "file"}, "env"),
        ([], {"SPECVINO_API_KEY": ""}, {"api-key": "file"}, "file"),
        (["--api-key", "line"], {"SPECVINO_API_KEY": "env"}, {"api-key": "file"}, "line"),
        (["--api-key", "line"], {}, {"api-key-file": "{keys}"}, "line"),
        (["--api-key", "line"], {"SPECVINO_API_KEY_FILE": "{keys}"}, {}, "line"),
        (["--api-key-file", "{keys}"], {}, {"api-key": "file"}, "in keys"),
        ([], {"SPECVINO_API_KEY_FILE": "{keys}"}, {"api-key": "file"}, "in keys"),
    ],
)
def test_a_key_of_the_line_counts_before_one_of_the_environment_and_that_before_the_file(
    file: Path, how: Served, monkeypatch: pytest.MonkeyPatch, line, environment, in_file, accepted
) -> None:
    monkeypatch.setenv("SPECVINO_API_KEY", "")
    monkeypatch.setenv("SPECVINO_API_KEY_FILE", "")
    keys = file.with_name("keys")
    keys.write_text("in keys\n".replace(" ", "-"))
    line, environment, in_file = json.loads(json.dumps([line, environment, in_file]).replace("{keys}", str(keys)))
    serve(file, {"dialect": "llama-cpp", **in_file}, *line, **environment)
    assert how["settings"].keys == {accepted.replace(" ", "-")}


@pytest.mark.parametrize(
    ("line", "environment", "in_file", "properties"),
    [
        ([], '{"INFERENCE_NUM_THREADS": 2, "A": 1}', {"threads": 4}, {"INFERENCE_NUM_THREADS": 2, "A": 1}),
        ([], '{"A": 1}', {"threads": 4, "plugin-config": {"B": 1}}, {"INFERENCE_NUM_THREADS": 4, "A": 1}),
        (["-t", "3"], '{"INFERENCE_NUM_THREADS": 2, "A": 1}', {"threads": 4}, {"INFERENCE_NUM_THREADS": 3, "A": 1}),
        (["-t", "3"], "", {"plugin-config": {"INFERENCE_NUM_THREADS": 2}}, {"INFERENCE_NUM_THREADS": 3}),
    ],
)
def test_a_property_is_from_the_first_that_sets_it(
    file: Path, how: Served, line, environment, in_file, properties
) -> None:
    with patch("specvino.cli.serve.app_of") as app:
        serve(file, {"dialect": "llama-cpp", **in_file}, *line, SPECVINO_PLUGIN_CONFIG=environment)
    assert json.loads(app.call_args.args[0].plugin_config) == properties


def test_a_name_of_the_environment_counts_before_that_of_the_model(file: Path, how: Served) -> None:
    serve(file, {"dialect": "ovms", "source_model": "O/m"}, SPECVINO_SERVED_MODEL_NAME="mine")
    assert how["names"] == ["mine"]


def test_folders_of_models_of_a_file_count_if_the_line_has_none(file: Path, how: Served, tmp_path: Path) -> None:
    mine = {"dialect": "ovms", "source_model": "m", "model_repository_path": str(tmp_path / "b")}
    (tmp_path / "b" / "m").mkdir(parents=True)
    (tmp_path / "a").mkdir()
    with patch("specvino.cli.serve.app_of") as app:
        serve(file, mine)
        assert app.call_args.args[0].model == str(tmp_path / "b" / "m")
        serve(file, mine, "--model_repository_path", str(tmp_path / "a"))
        assert app.call_args.args[0].model == "m"


def test_errors_name_the_file(file: Path, how: Served) -> None:
    output = serve(file, {"dialect": "ovms", "rest_port": "x"})
    assert f"Invalid value for --rest-port (from {file}): " in output


def test_the_last_file_counts(file: Path, how: Served) -> None:
    other = file.with_name("other.yaml")
    other.write_text("dialect: llama-cpp\nalias: x,y\n")
    serve(file, "dialect: vllm\nport: 1\n", "--config", str(other))
    assert how["names"] == ["x", "y"]


def test_an_empty_variable_names_no_file(file: Path, how: Served) -> None:
    assert "can't be read" not in CliRunner(env={"SPECVINO_CONFIG": ""}).invoke(main, ["serve", "--help"]).output
    done = CliRunner(env={"SPECVINO_CONFIG": "", "SPECVINO_RESPONSE_STORE": "none"}).invoke(
        main, ["serve", "--engine", "scripted"]
    )
    assert done.exit_code == 0


def test_help_needs_no_file(file: Path) -> None:
    assert "Usage: " in CliRunner().invoke(main, ["serve", "--config", str(file), "--help"]).output
    file.write_text("dialect: vllm\nprot: 1\n")
    output = CliRunner().invoke(main, ["serve", "--config", str(file), "--help"]).output
    assert "Options of `vllm serve" in output
