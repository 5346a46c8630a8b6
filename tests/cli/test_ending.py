"""The base install has the document and conform; what needs more says so in one line."""

import subprocess
import sys

import pytest

EXTRAS = ["connexion", "gguf", "msgspec", "openvino", "openvino_genai", "platformdirs", "starlette", "uvicorn"]
BASE_ONLY = f"import sys; sys.modules.update(dict.fromkeys({EXTRAS}))"


def specvino(*arguments, without=BASE_ONLY):
    command = [sys.executable, "-c", f"{without}; from specvino.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["spec"], ["spec", "explain", "chat.temperature"]])
def test_what_the_base_install_has(arguments) -> None:
    result = specvino(*arguments)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout


@pytest.mark.parametrize("arguments", [["serve"], ["serve", "--engine", "scripted"], ["pull"]])
def test_what_needs_an_extra(arguments) -> None:
    result = specvino(*arguments)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "pip install 'specvino[serve]'" in result.stderr


@pytest.mark.parametrize("option", ["--otlp-traces-endpoint", "--otlp-metrics-endpoint"])
def test_what_needs_opentelemetry(option) -> None:
    without = "import sys; sys.modules.update({'opentelemetry': None})"
    result = specvino("serve", "--engine", "scripted", option, "http://127.0.0.1:9", without=without)
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert "pip install 'specvino[otel]'" in result.stderr


def test_conformance_needs_no_extra() -> None:
    modules = "streams.stream_judge", "streams.fold", "http.sse"
    code = "; ".join([BASE_ONLY, *(f"import specvino.conformance.{each}" for each in modules)])
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
