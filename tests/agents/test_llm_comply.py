"""llm-comply, a tester of APIs from elsewhere, on all three that it shares with this server.

The tiny text model calls tools, and the tiny vision model sees; what needs both skills is left to the other one."""

import json
import subprocess
import sys

import pytest
from support.serving import serving

FORMATS = ["anthropic", "openai-chat", "open-responses"]

# Tests of llm-comply 0.5.0 that ask for something else: by what a name ends with.
SEEING = "image-input"
CALLING = "tool-calling"


@pytest.fixture(scope="module")
def seeing_server(tiny_vision):
    with serving(str(tiny_vision.path), "--served-model-name", "tiny") as server:
        yield server


def outcomes(url, form):
    """The outcome of each test, with its errors."""
    ran = subprocess.run(
        [
            *(sys.executable, "-c", "from llm_comply.cli import main; main()"),
            *("--format", form, "-u", url, "-k", "none", "-m", "tiny", "--json"),
        ],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    report = json.loads(ran.stdout)
    return {test["id"]: (test["status"], test.get("errors")) for test in report["results"]}


def passes(found, without):
    tried = {name: found[name] for name in found if not name.endswith(without) and found[name][0] != "skipped"}
    assert len(tried) >= 6
    assert {name: outcome for name, outcome in tried.items() if outcome[0] != "passed"} == {}


@pytest.mark.parametrize("form", FORMATS)
def test_it_finds_nothing_with_a_model_that_calls_tools(tiny_server, form) -> None:
    passes(outcomes(tiny_server.url, form), SEEING)


@pytest.mark.parametrize("form", FORMATS)
def test_it_finds_nothing_with_a_model_that_sees(seeing_server, form) -> None:
    passes(outcomes(seeing_server.url, form), CALLING)
