"""The command of a stranger, `schemathesis run URL`, finds nothing: it knows the server by its document alone."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.serving_here import ServerHere, serving_here

from specvino.document.loading import whole
from specvino.document.operations import operations

KEY = "sk-stock"
SEED = "20250101"

OPERATIONS = {each.label: each for each in operations(whole())}
LIFE = {each.label for each in OPERATIONS.values() if "{response_id}" in each.path}
STORED = {each.label for each in OPERATIONS.values() if "_id}" in each.path}

# The phase `coverage` sends 2,300 to 5,400 requests to each: test_fuzz.py does, and leaves out two others this large.
LARGEST = (
    "compact_response",
    "count_input_tokens",
    "create_chat_completion",
    "create_completion",
    "create_conversation_items",
    "create_message",
    "create_response",
)

# Tags of the operations that the keyed server is asked at the edges, and the open one the others: their requests need
# what others of them made, or they take two kinds of keys.
KEYED = {"Conversations", "Messages", "Models"}

# By the arguments that a stranger adds for them.
KEYS = {"open": (), "with a key": ("-H", f"Authorization: Bearer {KEY}")}


@pytest.fixture(scope="module", params=KEYS)
def stranger(request) -> Iterator[tuple[ServerHere, tuple[str, ...]]]:
    """A server, and what a command for it ends with."""
    keys = {"SPECVINO_API_KEY": KEY} if KEYS[request.param] else {}
    with serving_here("--engine", "scripted", env=keys) as server:
        yield server, KEYS[request.param]


class Run:
    """The stock command, its verdict and what it sent: (phase, operation, status) of each request, counted."""

    def __init__(
        self, stranger: tuple[ServerHere, tuple[str, ...]], folder: Path, version: str, *arguments: str
    ) -> None:
        server, ending = stranger
        reports = folder / "run.json", folder / "run.ndjson"
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json?version={version}"]
        command += ["--seed", SEED, "--report", "json,ndjson"]
        command += ["--report-json-path", str(reports[0]), "--report-ndjson-path", str(reports[1])]
        # In an empty folder there is no configuration that it could find.
        ran = subprocess.run(
            [*command, *arguments, *ending], cwd=folder, env=_plain(), capture_output=True, text=True, check=False
        )
        self.exit_code = ran.returncode
        self.output = ran.stdout + ran.stderr
        self.verdict: dict[str, Any] = json.loads(reports[0].read_text("utf-8")) if reports[0].exists() else {}
        self.sent = Counter(_requests(reports[1].read_text("utf-8"))) if reports[1].exists() else Counter()

    def operations(self, phase: str, *statuses: int) -> set[str]:
        """The operations that were sent something in a phase and answered it with one of the statuses, or with any."""
        return {place for each, place, status in self.sent if each == phase and (not statuses or status in statuses)}


def _plain() -> dict[str, str]:
    """The environment without proxies, which a request to this machine must not be sent to."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


def _requests(report: str) -> Iterator[tuple[str, str, int]]:
    for line in report.splitlines():
        scenario = json.loads(line).get("ScenarioFinished", {})
        recorder = scenario.get("recorder", {})
        for id, case in recorder.get("cases", {}).items():
            answer = recorder["interactions"][id]["response"]
            # In `coverage` an operation is also sent by methods that it doesn't have.
            own = f"{case['value']['method']} {case['value']['path']}"
            operation = own if scenario["phase"] == "stateful" else recorder["label"]
            yield scenario["phase"], operation, answer["status_code"]


def require_nothing_found(run: Run, version: str, *phases: str) -> None:
    assert run.exit_code == 0, run.output
    assert f"Open API {version}." in run.output
    assert run.verdict["complete"]
    assert run.verdict["failures"] == []
    assert run.verdict["operations"]["errored"] == 0
    assert {run.verdict["phases"][phase]["status"] for phase in phases} == {"success"}


# Each phase is run for both servers, and each server by documents of both versions.
def test_it_finds_nothing_in_the_life_of_a_response(stranger, tmp_path) -> None:
    version = "3.1" if stranger[1] else "3.2"
    only = ("--include-tag", "Responses", "--include-operation-id", "list_models")
    run = Run(stranger, tmp_path, version, "--phases", "stateful", *only)
    require_nothing_found(run, version, "stateful")
    assert run.operations("stateful", 200) == {"GET /models", "POST /responses", *LIFE}


def test_it_finds_nothing_by_chance(stranger, tmp_path) -> None:
    version = "3.2" if stranger[1] else "3.1"
    run = Run(stranger, tmp_path, version, "--phases", "examples,fuzzing,stateful", "--max-examples", "10")
    require_nothing_found(run, version, "examples", "fuzzing", "stateful")
    assert run.verdict["operations"]["tested"] == len(OPERATIONS)
    assert {"POST /tokenize", "GET /models/{model}"} <= run.operations("examples", 200)
    assert run.operations("fuzzing") == OPERATIONS.keys()
    assert run.operations("fuzzing", 400) >= {place for place, each in OPERATIONS.items() if each.body}


# But here each operation is tried on one server: the other one answers it by chance, by a document of the same version.
def test_it_finds_nothing_at_the_edges_of_the_document(stranger, tmp_path) -> None:
    small = {place: each for place, each in OPERATIONS.items() if each.id not in LARGEST}
    tried = {place for place, each in small.items() if KEYED.issuperset(each.definition["tags"]) is bool(stranger[1])}
    only = [argument for place in tried for argument in ("--include-operation-id", OPERATIONS[place].id)]
    version = "3.1" if stranger[1] else "3.2"
    run = Run(stranger, tmp_path, version, "--phases", "coverage", *only)
    require_nothing_found(run, version, "coverage")
    assert run.operations("coverage") == tried
    # Each is asked by a method that it doesn't have, and without a key where one is needed.
    assert run.operations("coverage", 405) >= tried - STORED
    keyed = {place for place in tried if "401" in OPERATIONS[place].definition["responses"]}
    # Of two kinds of keys it leaves none out, but repeats without any what was answered.
    keyed -= {place for place in keyed if len(security(place)) > 1} - run.operations("coverage", 200)
    assert run.operations("coverage", 401) == (keyed if "-H" in stranger[1] else set())


def security(place: str) -> list[Any]:
    """The kinds of keys that an operation takes."""
    kinds: list[Any] = OPERATIONS[place].definition.get("security", whole()["security"])
    return kinds


def test_it_finds_nothing_in_the_documents(stranger, tmp_path) -> None:
    server, ending = stranger
    run = of_file(tmp_path, server, httpx.get(f"{server.url}/openapi.json").json(), "get_openapi", *ending)
    assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("stranger", ["open"], indirect=True)
def test_it_finds_a_key_that_nobody_asks_for(stranger, tmp_path) -> None:
    """In a document that isn't the server's own."""
    server, _ = stranger
    run = of_file(tmp_path, server, whole(), "list_models")
    assert run.returncode == 1
    assert "API accepts invalid authentication" in run.stdout


def of_file(
    folder: Path, server: ServerHere, document: dict[str, Any], operation: str, *ending: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command for one operation of a document in a file."""
    file = folder / "openapi.json"
    file.write_text(json.dumps(document), "utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "run", str(file), "--url", server.url, "--seed", SEED]
    command += ["--phases", "coverage", "--include-operation-id", operation, *ending]
    return subprocess.run(command, cwd=folder, env=_plain(), capture_output=True, text=True, check=False)
