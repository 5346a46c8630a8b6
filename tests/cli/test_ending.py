"""The base install has the document and conform; what needs more says so in one line."""

import subprocess
import sys
from functools import cache

import pytest
from support.conforming import ANSWERS, well
from support.raw_server import raw_server

EXTRAS = [
    *("connexion", "gguf", "msgspec", "openvino", "openvino_genai", "platformdirs", "starlette", "uvicorn"),
    *("hypothesis", "openapi_core", "requests", "schemathesis", "PIL"),
    *("datamodel_code_generator", "openapi_schema_validator", "openapi_spec_validator"),
]
BASE_ONLY = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"


def specvino(*arguments, without=BASE_ONLY):
    line = [sys.executable, "-P", "-c", f"{without}; from specvino.cli import main; main()", *arguments]
    return subprocess.run(line, capture_output=True, text=True, timeout=300)


@cache
def command(extra):
    """What installs an extra, by the metadata that such a process finds."""
    code = f"from specvino.conformance.installation import command; print(command({extra!r}), end='')"
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["spec"], ["spec", "explain", "chat.temperature"]])
def test_what_the_base_install_has(arguments) -> None:
    result = specvino(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout


def test_commands_start_without_what_only_some_of_them_need() -> None:
    result = specvino("--version", without="import sys; sys.modules.update(dict.fromkeys(['httpx', 'markdown_it']))")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["serve"], "serve"),
        (["serve", "--engine", "scripted"], "serve"),
        (["pull"], "serve"),
        (["spec", "lint"], "codegen"),
    ],
)
def test_what_needs_an_extra(arguments, extra) -> None:
    result = specvino(*arguments)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert command(extra) in result.stderr


@pytest.mark.parametrize("option", ["--otlp-traces-endpoint", "--otlp-metrics-endpoint"])
def test_what_needs_opentelemetry(option) -> None:
    without = "import sys; sys.modules.update({'opentelemetry': None})"
    result = specvino("serve", "--engine", "scripted", option, "http://127.0.0.1:9", without=without)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert command("otel") in result.stderr


def test_conformance_needs_no_extra() -> None:
    modules = "python_api", "fuzz.replay", "streams.stream_validator", "streams.fold", "streams.sse"
    code = "; ".join([BASE_ONLY, *(f"import specvino.conformance.{module}" for module in modules)])
    subprocess.run([sys.executable, "-P", "-c", code], check=True, timeout=300)


def test_generated_requests_need_an_extra() -> None:
    for chosen in (["--layer", "fuzz"], ["-f", "chat/fuzz"], ["--layer", "cases", "--layer", "fuzz"]):
        result = specvino("conform", "http://127.0.0.1:9/v1", *chosen)
        assert result.returncode == 2
        assert result.stderr == f"specvino: the layer fuzz requires Schemathesis: {command('fuzz')}\n"


def test_conform_says_what_it_leaves_out_without_the_extra() -> None:
    with raw_server(well) as server:
        whole = specvino("conform", server.url, "--max-time", "1", "--profile", "core")
        some = specvino("conform", server.url, *ANSWERS)
    assert f"left out: the layer fuzz requires Schemathesis: {command('fuzz')}\n" in whole.stdout
    assert (some.returncode, some.stderr) == (0, "")
    assert "left out: the layer" not in some.stdout
