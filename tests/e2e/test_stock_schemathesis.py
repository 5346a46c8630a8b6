"""The command of a stranger, `schemathesis run URL`, finds nothing. Two phases are `tests/whole`'s."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.serving_here import ServerHere
from support.stock_schemathesis import (
    KEYS,
    OPERATIONS,
    SEED,
    Run,
    Stranger,
    plain,
    require_a_whole_life,
    require_nothing_found,
    strange,
)

from specvino.document.loading import whole

STORED = {each.label for each in OPERATIONS.values() if "_id}" in each.path}

# The phase `coverage` sends 2,300 to 5,400 requests to each: `tox run -e exhaustive` does.
LARGEST = (
    "compact_response",
    "count_input_tokens",
    "count_message_tokens",
    "create_chat_completion",
    "create_completion",
    "create_conversation",
    "create_conversation_items",
    "create_message",
    "create_response",
)

# Tags of the operations that the keyed server is asked at the edges, and the open one the others: their requests need
# what others of them made, or they take two kinds of keys.
KEYED = {"Conversations", "Messages", "Models"}


@pytest.fixture(scope="module", params=KEYS)
def stranger(request) -> Iterator[Stranger]:
    with strange(request.param) as each:
        yield each


@pytest.mark.parametrize("stranger", ["open"], indirect=True)
def test_it_finds_nothing_in_the_life_of_a_response(stranger, tmp_path) -> None:
    require_a_whole_life(stranger, tmp_path, "3.1")


# Each operation is tried on one server; `tests/whole` tries all of them by chance on both.
def test_it_finds_nothing_at_the_edges_of_the_document(stranger, tmp_path) -> None:
    small = {label: operation for label, operation in OPERATIONS.items() if operation.id not in LARGEST}
    tried = {
        label
        for label, operation in small.items()
        if KEYED.issuperset(operation.definition["tags"]) is bool(stranger[1])
    }
    only = [argument for label in tried for argument in ("--include-operation-id", OPERATIONS[label].id)]
    version = "3.1" if stranger[1] else "3.2"
    run = Run(stranger, tmp_path, version, "--phases", "coverage", *only)
    require_nothing_found(run, version, "coverage")
    assert run.operations("coverage") == tried
    # Each is asked by a method that it doesn't have, and without a key where one is needed.
    assert run.operations("coverage", 405) >= tried - STORED
    keyed = {label for label in tried if "401" in OPERATIONS[label].definition["responses"]}
    # Of two kinds of keys it leaves none out, but repeats without any what was answered.
    keyed -= {label for label in keyed if len(security(label)) > 1} - run.operations("coverage", 200)
    assert run.operations("coverage", 401) == (keyed if "-H" in stranger[1] else set())


def security(label: str) -> list[Any]:
    """The kinds of keys that an operation takes."""
    kinds: list[Any] = OPERATIONS[label].definition.get("security", whole()["security"])
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
    return subprocess.run(command, cwd=folder, env=plain(), capture_output=True, text=True, check=False)
