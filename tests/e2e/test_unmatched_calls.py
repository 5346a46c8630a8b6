"""Tool calls without results, and results without calls: named in the header, errors as OpenAI."""

import httpx
import pytest
from support.serving_here import serving_here

RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
BODIES = {
    "/chat/completions": {"messages": [{"role": "user", "content": "hi"}, RESULT]},
    "/responses": {"input": [{"role": "user", "content": "hi"}, OUTPUT]},
}
PARAMS = {"/chat/completions": "messages.1.tool_call_id", "/responses": "input.1.call_id"}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("stream", [False, True])
def test_they_are_named(scripted_server, path, stream) -> None:
    body = {"model": "m", "stream": stream, **BODIES[path]}
    answer = httpx.post(f"{scripted_server.url}{path}", json=body)
    assert answer.status_code == 200
    assert answer.headers["x-unsupported-params"] == PARAMS[path]


@pytest.mark.parametrize("options", [["--dialect", "openai", "--insecure"], ["--unsupported-fields", "reject"]])
def test_they_are_errors(options) -> None:
    with serving_here("--engine", "scripted", *options) as server:
        for path, body in BODIES.items():
            answer = httpx.post(f"{server.url}{path}", json={"model": "scripted", **body})
            assert (answer.status_code, answer.json()["error"]["param"]) == (400, PARAMS[path])
