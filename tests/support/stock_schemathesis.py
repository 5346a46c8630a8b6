"""The command of a stranger, `schemathesis run URL`: it knows a server by its document alone."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from specvino.document.loading import whole
from specvino.document.operations import operations
from support.serving_here import ServerHere, serving_here

KEY = "sk-stock"
SEED = "20250101"

OPERATIONS = {each.label: each for each in operations(whole())}
LIFE = {each.label for each in OPERATIONS.values() if "{response_id}" in each.path}

# By the arguments that a stranger adds for them.
KEYS = {"open": (), "with a key": ("-H", f"Authorization: Bearer {KEY}")}

Stranger = tuple[ServerHere, tuple[str, ...]]
"""A server, and what a command for it ends with."""


@contextmanager
def strange(kind: str) -> Iterator[Stranger]:
    """A server of one of KEYS."""
    with serving_here("--engine", "scripted", env={"SPECVINO_API_KEY": KEY} if KEYS[kind] else {}) as server:
        yield server, KEYS[kind]


class Run:
    """The stock command, its verdict and what it sent: (phase, operation, status) of each request, counted."""

    def __init__(self, stranger: Stranger, folder: Path, version: str, *arguments: str) -> None:
        server, ending = stranger
        reports = folder / "run.json", folder / "run.ndjson"
        command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json?version={version}"]
        command += ["--seed", SEED, "--report", "json,ndjson"]
        command += ["--report-json-path", str(reports[0]), "--report-ndjson-path", str(reports[1])]
        # In an empty folder there is no configuration that it could find.
        ran = subprocess.run(
            [*command, *arguments, *ending], cwd=folder, env=plain(), capture_output=True, text=True, check=False
        )
        self.exit_code = ran.returncode
        self.output = ran.stdout + ran.stderr
        self.verdict: dict[str, Any] = json.loads(reports[0].read_text("utf-8")) if reports[0].exists() else {}
        self.sent = Counter(_requests(reports[1].read_text("utf-8"))) if reports[1].exists() else Counter()

    def operations(self, phase: str, *statuses: int) -> set[str]:
        """The operations that were sent something in a phase and answered it with one of the statuses, or with any."""
        return {place for each, place, status in self.sent if each == phase and (not statuses or status in statuses)}


def plain() -> dict[str, str]:
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


def require_a_whole_life(stranger: Stranger, folder: Path, version: str) -> None:
    """Nothing is found in the life of a response."""
    only = ("--include-tag", "Responses", "--include-operation-id", "list_models")
    run = Run(stranger, folder, version, "--phases", "stateful", *only)
    require_nothing_found(run, version, "stateful")
    assert run.operations("stateful", 200) == {"GET /models", "POST /responses", *LIFE}
