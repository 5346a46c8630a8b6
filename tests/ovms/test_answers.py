"""Requests whose answer by OVMS is known, sent to `specvino serve` with the tiny models."""

import json

import httpx
import jsonschema_rs
import pytest
from support.app import error_of
from support.ovms_cases import Case, load
from support.streams import judged

from specvino.generated.errors import ERRORS, ErrorCode

STREAM = "text/event-stream"
ENDPOINTS = {"/v3/chat/completions": "chat", "/v3/completions": "completions", "/v3/responses": "responses"}


@pytest.mark.parametrize("case", list(load()), ids=lambda case: case.id)
def test_the_kind_of_answer(clients, case) -> None:
    response = send(clients(case.server), case)
    assert kind(response) == case.ours, response.text
    if response.is_error:
        code = response.json()["error"]["code"]
        error_of(response, ERRORS[ErrorCode(code)].status, code)
    if case.ours == "sse":
        judged(ENDPOINTS[case.path], response)
    for path, schema in case.answer.items():
        jsonschema_rs.validate(schema, at(response.json(), path))


def send(client: httpx.Client, case: Case) -> httpx.Response:
    if case.content is None:
        return client.request(case.method, case.path, headers=case.headers)
    content = case.content if isinstance(case.content, str) else json.dumps(case.content)
    headers = {"Content-Type": "application/json"} | case.headers
    return client.request(case.method, case.path, content=content.encode(), headers=headers)


def kind(response: httpx.Response) -> str:
    if response.status_code == 200:
        return "sse" if response.headers.get("content-type", "").startswith(STREAM) else "200"
    return f"{response.status_code // 100}xx"


def at(value, path: str):
    for step in path.split("."):
        value = value[int(step) if isinstance(value, list) else step]
    return value
