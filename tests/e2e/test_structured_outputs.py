"""Forms of answers through HTTP, unary and streamed, on chat and on responses."""

import json
from typing import Any

import httpx
import openai
import pytest
from pydantic import BaseModel, Field
from support.serving_here import ServerHere, serving_here

UNIQUE = {"type": "array", "items": {"type": "integer"}, "maxItems": 3, "uniqueItems": True}
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}, "ids": UNIQUE},
    "required": ["city", "ids"],
    "additionalProperties": False,
}
PLACE = "properties.ids.uniqueItems"


def chat(server: ServerHere, format: Any, **fields: Any) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": "hello"}], "response_format": format, "temperature": 0}
    return httpx.post(
        f"{server.url}/chat/completions", json={"model": "m", "max_tokens": 200, **body, **fields}, timeout=300
    )


def responses(server: ServerHere, **fields: Any) -> httpx.Response:
    body = {"model": "m", "input": "hello", "max_output_tokens": 200, "temperature": 0, **fields}
    return httpx.post(f"{server.url}/responses", json=body, timeout=300)


def content(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    if answer.headers["content-type"].startswith("text/event-stream"):
        events = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
        if "choices" not in events[0]:
            return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        return "".join(choice["delta"].get("content", "") for event in events for choice in event["choices"])
    body = answer.json()
    if "choices" in body:
        assert body["choices"][0]["finish_reason"] == "stop"
        return str(body["choices"][0]["message"]["content"])
    assert body["status"] == "completed"
    return str(body["output"][0]["content"][0]["text"])


@pytest.fixture(scope="module", params=["tiny", "scripted"])
def server(request: pytest.FixtureRequest, tiny_text: Any) -> Any:
    arguments = ["--engine", "scripted"] if request.param == "scripted" else [str(tiny_text.path)]
    with serving_here(*arguments, "--served-model-name", "m") as server:
        yield server


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_on_chat(server: ServerHere, stream: bool) -> None:
    answer = chat(server, {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, stream=stream)
    assert set(json.loads(content(answer))) == {"city", "ids"}
    assert answer.headers["x-unsupported-params"] == f"response_format.json_schema.schema.{PLACE}"


@pytest.mark.parametrize("stream", [False, True])
def test_a_schema_on_responses(server: ServerHere, stream: bool) -> None:
    format = {"type": "json_schema", "name": "n", "schema": SCHEMA}
    answer = responses(server, text={"format": format}, stream=stream)
    assert set(json.loads(content(answer))) == {"city", "ids"}
    assert answer.headers["x-unsupported-params"] == f"text.format.schema.{PLACE}"
    if not stream:
        assert answer.json()["text"]["format"] == format


@pytest.mark.parametrize("stream", [False, True])
def test_strict_refuses_what_is_not_enforced(server: ServerHere, stream: bool) -> None:
    named = {"name": "n", "schema": SCHEMA, "strict": True}
    of_chat = chat(server, {"type": "json_schema", "json_schema": named}, stream=stream)
    of_response = responses(server, text={"format": {"type": "json_schema", **named}}, stream=stream)
    for answer, at in ((of_chat, "response_format.json_schema.schema"), (of_response, "text.format.schema")):
        assert answer.status_code == 400
        error = answer.json()["error"]
        assert (error["code"], error["param"]) == ("unsupported_schema", f"{at}.{PLACE}")
        assert error["param"] in error["message"]


@pytest.mark.parametrize(
    "schema", [{"type": "nonsense"}, {"type": "string", "minLength": 3, "maxLength": 2}, {"$ref": "#/x"}]
)
def test_a_wrong_schema_is_refused(server: ServerHere, schema: Any) -> None:
    for answer in (
        chat(server, {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}),
        responses(server, text={"format": {"type": "json_schema", "name": "n", "schema": schema}}),
    ):
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] == "invalid_schema"


def test_an_object(server: ServerHere) -> None:
    format = {"type": "json_object"}
    for answer in (
        chat(server, format),
        responses(server, text={"format": format}),
        responses(server, response_format=format),
    ):
        assert isinstance(json.loads(content(answer)), dict)


def test_structural_formats(server: ServerHere) -> None:
    constant = {"type": "const_string", "value": "größe: 日本 🎉"}
    sequence = {"type": "sequence", "elements": [constant, {"type": "regex", "pattern": "[0-9]{2}"}]}
    for format, expected in ((constant, constant["value"]), (sequence, constant["value"])):
        for whole in (format, {"type": "structural_tag", "format": format}):
            assert content(chat(server, whole)).startswith(str(expected))
            assert content(responses(server, response_format=whole)).startswith(str(expected))


def test_a_schema_alone_is_reported_by_its_own_keywords_only(server: ServerHere) -> None:
    answer = chat(server, {"type": "json_schema", "json_schema": SCHEMA})
    assert set(json.loads(content(answer))) == {"city", "ids"}
    assert answer.headers["x-unsupported-params"] == f"response_format.json_schema.{PLACE}"


@pytest.mark.parametrize(("policy", "status"), [("reject", 400), ("ignore", 200)])
def test_policies_for_what_is_not_enforced(policy: str, status: int) -> None:
    format = {"type": "json_schema", "json_schema": {"name": "n", "schema": UNIQUE}}
    arguments = ("--engine", "scripted", "--served-model-name", "m", "--unsupported-fields", policy)
    with serving_here(*arguments) as server:
        answer = chat(server, format)
        assert answer.status_code == status
        assert "x-unsupported-params" not in answer.headers


class Step(BaseModel):
    explanation: str = Field(max_length=20)
    done: bool


class Plan(BaseModel):
    title: str = Field(max_length=20)
    steps: list[Step] = Field(max_length=3)


def test_the_sdk_parses_answers_into_models(server: ServerHere) -> None:
    question: Any = [{"role": "user", "content": "hello"}]
    with openai.OpenAI(base_url=server.url, api_key="none") as client:
        completion = client.chat.completions.parse(model="m", messages=question, response_format=Plan, temperature=0)
        assert isinstance(completion.choices[0].message.parsed, Plan)
        with client.chat.completions.stream(
            model="m", messages=question, response_format=Plan, temperature=0
        ) as stream:
            assert stream.get_final_completion().choices[0].message.parsed == completion.choices[0].message.parsed
        response = client.responses.parse(model="m", input="hello", text_format=Plan, temperature=0)
        assert response.output_parsed == completion.choices[0].message.parsed
