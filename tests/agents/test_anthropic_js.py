"""The official SDK of the Messages API for JavaScript (node/anthropic.mjs): a call and its result, and an error."""

import pytest


@pytest.fixture(scope="module")
def jobs(tiny_server, run_script):
    """What happened each way."""
    return {line["way"]: line for line in run_script("anthropic.mjs", tiny_server.url.removesuffix("/v1"))}


@pytest.mark.parametrize(("way", "city"), [("whole", "Rome"), ("stream", "Tokyo")])
def test_a_tool_is_called_and_its_result_used(jobs, way, city) -> None:
    job = jobs[way]
    assert job["input"] == {"city": city}
    assert job["counted"] == job["usage"]["input_tokens"]
    assert job["reasons"] == ["tool_use", "end_turn"]
    assert [block["text"] for block in job["content"]] == [f"It is sunny in {city}."]


def test_the_text_comes_in_pieces(jobs) -> None:
    deltas = jobs["stream"]["deltas"]
    assert len(deltas) > 1
    assert "".join(deltas) == "It is sunny in Tokyo."


def test_an_unknown_model_is_an_error_of_its_class(jobs) -> None:
    assert jobs["error"] == {"way": "error", "name": "NotFoundError", "status": 404, "type": "not_found_error"}
