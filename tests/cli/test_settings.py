"""Options of `serve` from the environment and from a file, and the groups of its help."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner, Result

from specvino.cli import main
from specvino.server import run
from specvino.server.assembly import ServedApp

Serve = Callable[..., tuple[Result, dict[str, Any]]]


@pytest.fixture
def serve() -> Serve:
    """Runs `serve` up to where it would listen; gives its end and how it would."""

    def started(*arguments: str, **environment: str) -> tuple[Result, dict[str, Any]]:
        how: dict[str, Any] = {}

        def keep(served: ServedApp, host: str, port: int, **others: object) -> None:
            names = [name for names in served.engines for name in names]
            how.update(others, host=host, port=port, names=names, settings=served.settings)

        with patch.object(run, "run", keep), patch("specvino.cli.serve.gc"):
            done = CliRunner(env=environment).invoke(main, ["serve", "--engine", "scripted", *arguments])
        return done, how

    return started


@pytest.fixture(params=[".yaml", ".toml"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    text = {
        ".yaml": "port: 9001\nmax_connections: 7\nserved-model-name: [a, b]\nno-web: true\n",
        ".toml": 'port = 9001\nmax_connections = 7\nserved-model-name = ["a", "b"]\nno-web = true\n',
    }[request.param]
    path = tmp_path / f"settings{request.param}"
    path.write_text(text)
    return path


def test_the_command_line_counts_before_the_environment_and_that_before_the_file(serve: Serve, file: Path) -> None:
    _, how = serve("--config", str(file))
    assert (how["port"], how["max_connections"], how["names"]) == (9001, 7, ["a", "b"])
    assert not how["settings"].web
    _, how = serve(SPECVINO_CONFIG=str(file), SPECVINO_PORT="9002")
    assert (how["port"], how["max_connections"]) == (9002, 7)
    _, how = serve("--port", "9003", "--config", str(file), SPECVINO_PORT="9002")
    assert how["port"] == 9003


def test_switches_and_lists_from_the_environment(serve: Serve) -> None:
    _, how = serve(SPECVINO_NO_WEB="1", SPECVINO_INSECURE="true", SPECVINO_SERVED_MODEL_NAME="a b")
    assert not how["settings"].web
    assert (how["insecure"], how["names"]) == (True, ["a", "b"])


def test_a_file_of_comments_sets_nothing(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("# port: 9001\n")
    done, how = serve("--config", str(path))
    assert (done.exit_code, how["port"]) == (0, 8000)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("prot: 1", "unknown option prot; did you mean port?"),
        ("config: x", "unknown option config"),
        ("port: x", "Invalid value for --port (from {file}): 'x' isn't an integer"),
        ("- port", "isn't a mapping of options to values"),
        ("a: [", "isn't valid YAML: "),
        ("port: 1\nport: 2", "the key 'port' is duplicated"),
        ("max-queue: 1\nmax_queue: 2", "the option max_queue is given twice"),
        ("? [a]\n: 1", "isn't valid YAML: "),
    ],
)
def test_a_file_that_cannot_be_used(serve: Serve, tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    done, how = serve("--config", str(path), COLUMNS="400")
    assert (done.exit_code, how) == (2, {})
    assert why.format(file=path) in done.output


def test_a_wrong_value_of_a_variable_is_named(serve: Serve) -> None:
    done, _ = serve(SPECVINO_MAX_QUEUE="many", COLUMNS="200")
    assert done.exit_code == 2
    assert "Invalid value for --max-queue (from SPECVINO_MAX_QUEUE): 'many' isn't an integer" in done.output


def test_an_unknown_variable_is_a_warning_with_the_nearest_name(serve: Serve) -> None:
    others = {"SPECVINO_API_KEY_B": "of conform parity", "SPECVINO_REPLICAS": "2"}
    done, how = serve(SPECVINO_API_KEYS="right", SPECVINO_BOGUS="1", **others)
    assert how
    assert re.findall("specvino: warning: .*", done.output) == [
        "specvino: warning: the environment variable SPECVINO_API_KEYS has no effect; did you mean SPECVINO_API_KEY?",
        "specvino: warning: the environment variable SPECVINO_BOGUS has no effect",
    ]


def test_the_dialect_of_the_environment_has_its_options(serve: Serve) -> None:
    done, how = serve("--gpu-memory-utilization", "0.5", SPECVINO_DIALECT="vllm")
    assert how
    assert "--gpu-memory-utilization has no effect here" in done.output


def test_each_command_warns_of_a_variable_without_effect() -> None:
    """Once: the servers and programs that it starts don't see the variable."""
    with patch.dict(os.environ, {"SPECVINO_CACHES": "/models"}):
        done = CliRunner().invoke(main, ["spec", "explain", "chat.min_p"])
        assert "SPECVINO_CACHES" not in os.environ
    warning = "the environment variable SPECVINO_CACHES has no effect; did you mean SPECVINO_CACHE?"
    assert done.output.startswith(f"specvino: warning: {warning}\n")


def test_addresses_of_a_service_with_this_name_are_no_options(serve: Serve) -> None:
    """Kubernetes sets these beside a service named specvino."""
    links = {"SPECVINO_PORT_8000_TCP_ADDR": "10.0.0.1", "SPECVINO_SERVICE_HOST": "10.0.0.1"}
    done, how = serve("--port", "9003", SPECVINO_PORT="tcp://10.0.0.1:8000", **links)
    assert how["port"] == 9003
    assert "SPECVINO_" not in done.output


def test_help_has_groups() -> None:
    for option in ("-h", "--help"):
        help = CliRunner().invoke(main, ["serve", option]).output
        groups = re.findall(r"^(\S.*):$", help, re.MULTILINE)
        assert groups[:3] == ["Arguments", "Options", "Model"]
        assert {"Network", "Keys", "Limits", "Engine", "Media", "Observability"} <= set(groups)
        _, _, keys = help.partition("\nKeys:\n")
        assert "--api-key-file" in keys.partition("\n\n")[0]


def test_https(tmp_path: Path) -> None:
    """The certificate is read before anything is served."""
    done = CliRunner().invoke(main, ["serve", "--engine", "scripted", "--port", "0", "--ssl-keyfile", "none.pem"])
    assert (done.exit_code, done.output) == (2, "specvino: --ssl-keyfile requires --ssl-certfile\n")
    (tmp_path / "text.pem").write_text("text")
    options = ["--engine", "scripted", "--port", "0", "--ssl-certfile", str(tmp_path / "text.pem")]
    done = CliRunner().invoke(main, ["serve", *options])
    assert (done.exit_code, done.output) == (
        2,
        f"specvino: can't load a PEM certificate and its private key from {tmp_path}/text.pem\n",
    )


def test_a_start_ends_with_2_only_if_another_try_would_fail_too() -> None:
    """By this a service that is restarted comes up once a port is free, and isn't restarted for a missing key."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = CliRunner().invoke(main, ["serve", "--engine", "scripted", "--port", str(port)])
    taken = f"specvino: can't listen on 127.0.0.1 port {port}: Address already in use\n"
    assert (done.exit_code, done.output) == (1, taken)
    done = CliRunner().invoke(main, ["serve", "--engine", "scripted", "--port", "0", "--host", "0.0.0.0"])
    assert done.exit_code == 2
    assert done.output.startswith("specvino: other machines can reach 0.0.0.0, so an API key is required")


def test_errors_of_yaml_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("port: 1\nport: : 2\n")
    output = CliRunner().invoke(main, ["serve", "--config", str(file)]).output
    assert f'in "{file}", line 2' in output
    assert "unicode string" not in output


def test_several_models_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("model: [a=b]\n")
    for options in ((), ("--dialect", "vllm")):
        done = CliRunner().invoke(main, ["serve", "--config", str(file), *options])
        assert done.exit_code == 2
        assert "model is one model: list several under named-models, as NAME=MODEL" in done.output
