"""llm-comply, a tester of APIs from elsewhere, on all three that it shares with this server."""

import json
import subprocess
import sys

import pytest
from support.serving import serving

FORMATS = ["anthropic", "openai-chat", "open-responses"]


@pytest.fixture(scope="module")
def server(greedy_vision):
    """A server with a model that sees and calls tools."""
    with serving(str(greedy_vision), "--served-model-name", "tiny") as server:
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


@pytest.mark.parametrize("form", FORMATS)
def test_it_finds_nothing(server, form) -> None:
    tried = {name: outcome for name, outcome in outcomes(server.url, form).items() if outcome[0] != "skipped"}
    assert len(tried) >= 7
    assert {name: outcome for name, outcome in tried.items() if outcome[0] != "passed"} == {}
