"""A model's own generation_config.json may set how it samples, but not what an answer is."""

import json
import shutil

import httpx
import pytest
from support.serving_here import serving_here


@pytest.fixture
def answers(tiny_text, tmp_path):
    """Serves the tiny model with such settings and returns its answer to "hello"."""

    def ask(settings, **fields):
        folder = tmp_path / "model"
        shutil.copytree(tiny_text.path, folder)
        config = folder / "generation_config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | settings))
        with serving_here(str(folder), "--served-model-name", "m") as server:
            body = {"model": "m", "messages": [{"role": "user", "content": "hello"}], **fields}
            response = httpx.post(f"{server.url}/chat/completions", json=body, timeout=300)
        assert response.status_code == 200, response.text
        return response.json()["choices"][0]

    return ask


def test_beams_echo_and_minimum_are_not_taken_over(answers) -> None:
    settings = {"num_beams": 4, "echo": True, "min_new_tokens": 50, "assistant_confidence_threshold": 0.4}
    assert answers(settings, temperature=0)["message"]["content"] == "Hello! How can I help you today?"


def test_a_limit_of_the_model_yields_to_the_context(answers) -> None:
    assert answers({"max_new_tokens": 1_000_000}, temperature=0)["finish_reason"] == "stop"


def test_its_limit_and_temperature_hold_where_the_request_is_silent(answers) -> None:
    choice = answers({"max_new_tokens": 3, "temperature": 0.0})
    assert choice["finish_reason"] == "length"
    assert choice["message"]["content"] == "Hello"[: len(choice["message"]["content"])]
