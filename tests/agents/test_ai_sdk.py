"""The AI SDK's agent loop (node/ai_sdk.mjs): the model calls a tool and answers with its result."""

import pytest

WAYS = pytest.mark.parametrize("way", ["responses", "chat", "compatible", "anthropic"])


@pytest.fixture(scope="module")
def jobs(tiny_server, run_script):
    """What happened each way."""
    return {line["way"]: line for line in run_script("ai_sdk.mjs", tiny_server.url)}


@WAYS
def test_a_tool_is_called_and_its_result_used(jobs, way) -> None:
    job = jobs[way]
    assert job["asked"] == ["Rome"]
    assert job["text"] == "It is sunny in Rome."
    assert job["steps"] == ["tool-calls", "stop"]
    assert job["totalUsage"]["outputTokens"] > 0


@WAYS
def test_the_same_streamed(jobs, way) -> None:
    job = jobs[f"{way}_stream"]
    assert job["asked"] == ["Tokyo"]
    assert "".join(job["deltas"]) == "It is sunny in Tokyo."
    assert len(job["deltas"]) > 1
    assert job["steps"] == ["tool-calls", "stop"]
